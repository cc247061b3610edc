import fc from 'fast-check';
import t from 'tap';
import { compilePattern as compile, withinBudget } from '../../../../src/gateway/contract/path/pattern.js';

function compilePattern(source: string): (text: string) => boolean {
  const fits = compile(source);
  return (text) => withinBudget(() => fits(text));
}

t.test('a pattern takes what a regular expression takes', (t) => {
  for (const source of [
    '^[a-zA-Z0-9](-*[a-zA-Z0-9])*$',
    '^[0-9a-f]{24}$',
    '^\\d{4}-\\d{2}$',
    '^arn:aws[-\\w]*:s3:[a-z0-9-]*:\\d{12}:.+$',
    '[\\s\\S]*',
    '^(?:abc|d?e+)$',
    '^(?<year>\\d+)x{2,}y{0,1}z{3}$',
    '^[\\w-.]+$',
    '^[^]]]$',
    '^\\p{L}+\\u{e9}?\\x41\\u0042\\.\\/$',
    'a|^b$|c$',
    'a{,2}',
    '^$',
    '',
    '()|a*?b',
    '.',
  ]) {
    const [own, native] = [
      compilePattern(source),
      new RegExp(source, source.includes('-.]') || source.includes('{,') || source.includes(']]') ? '' : 'u'),
    ];
    for (const text of [
      '',
      'a',
      'b',
      'ab',
      'abc',
      'deee',
      'a-b',
      'a--b-',
      '0123456789abcdef01234567',
      '2026-11',
      'arn:aws-cn:s3:eu-1:123456789012:x',
      '12xxxyzzz',
      'a.b-c_',
      'éLéAB./',
      'a]',
      'a{,2}',
      '\n',
      'xbx',
      '🐱',
    ])
      t.equal(own(text), native.test(text), `${source} of ${text}`);
  }
  t.end();
});

t.test('random patterns take what a regular expression takes', (t) => {
  const atom = fc.constantFrom('a', 'b', '.', '[^a]', '\\w', '^', '$');
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '*?');
  const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
    part: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.tuple(atom, quantifier).map(([one, often]) => ('^$'.includes(one) ? one : one + often)),
      fc.tuple(tie('pattern'), quantifier).map(([inner, often]) => `(${inner})${often}`),
      fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    ),
    pattern: fc.array(tie('part'), { maxLength: 4 }).map((parts) => parts.join('')),
  }));
  const text = fc.array(fc.constantFrom('a', 'b', '-'), { maxLength: 6 }).map((all) => all.join(''));
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 8, maxLength: 8 }), (source, texts) => {
      const [own, native] = [compilePattern(source), new RegExp(source, 'u')];
      return texts.every((text) => own(text) === native.test(text));
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('what RegExp would take for ever over takes a moment', (t) => {
  for (const source of ['^(a+)+$', '^(a|a)*$', '^(\\w|\\d|a)+$', '^(.*a){20}$', '(a?){30}a{30}$', '^(a*)*b', '\\s+$'])
    t.notOk(compilePattern(source)(`${'a'.repeat(5_000)}!`), source);
  t.ok(compilePattern('^(a+)+$')('a'.repeat(5_000)), 'and is taken where it fits');
  const wide = compilePattern('^(a{0,400}){5}$');
  t.ok(wide('a'.repeat(20)));
  t.notOk(wide('a'.repeat(1_500)), 'beyond so many steps nothing fits');
  t.end();
});

t.test('what is not checked here is named', (t) => {
  for (const [source, reason] of [
    ['(', /no regular expression/],
    ['(?=a)', /\(\?=a\)/],
    ['a(?<!b)', /\(\?<!b\)/],
    ['(a)\\1', /\\1/],
    ['(?<n>a)\\k<n>', /\\k<n>/],
    ['\\bword', /\\bword/],
    ['(a{1000}){1000}', /too large/],
    ['((((){1000}){1000}){1000}){1000}', /too large/],
    [`a${'b'.repeat(4_000)}`, /too long/],
  ] as const)
    t.throws(() => compilePattern(source), { message: reason }, source.slice(0, 50));
  t.ok(compilePattern(`${'('.repeat(2_000)}${')'.repeat(2_000)}`)(''), 'groups in groups');
  t.end();
});
