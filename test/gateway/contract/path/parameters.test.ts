import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';
import { createFits, readParameters, schemaProblem } from '../../../../src/gateway/contract/path/parameters.js';

/** Whether a value fits this schema in the middle of a path. */
function fitsOf(schema: unknown): (value: string) => boolean {
  const fits = createFits({
    path: '/v1/a/{x}/b/{y}',
    parameters: [
      { name: 'x', schema },
      { name: 'y', schema: { type: 'string', enum: ['y'] } },
    ],
  });
  return (value) => fits(`/v1/a/${value}/b/y`);
}

function check(t: Test, schema: unknown, good: readonly string[], bad: readonly string[]): void {
  const fits = fitsOf(schema);
  t.equal(schemaProblem(schema), null, `${JSON.stringify(schema)} is held to`);
  for (const value of good) t.ok(fits(value), `${JSON.stringify(schema)} takes ${value}`);
  for (const value of bad) t.notOk(fits(value), `${JSON.stringify(schema)} refuses ${value}`);
}

/** What is no text in any path: a segment that a decoder makes two of, and bytes that aren't UTF-8. */
const NO_TEXTS = ['%2F', 'a%2Fb', '..%5C', '%FF', '%C3'];
const NO_INTEGERS = [
  'abc',
  '01',
  '+1',
  '-0',
  '1.0',
  '1e0',
  '0x1',
  '%31',
  '1%20',
  ' 1',
  '1;a=b',
  '１',
  '',
  '1_0',
  'NaN',
  'Infinity',
];

t.test('a whole number is one way of writing it, within its bounds', (t) => {
  check(
    t,
    { type: 'integer', format: 'int64', minimum: 1 },
    ['1', '9007199254740993', '9223372036854775807'],
    ['0', '-1', '9223372036854775808', '99999999999999999999', ...NO_INTEGERS],
  );
  check(
    t,
    { type: 'integer' },
    ['0', '-1', '-9223372036854775808', '9223372036854775807'],
    ['-9223372036854775809', '9223372036854775808', ...NO_INTEGERS],
  );
  check(t, { type: 'integer', format: 'int32' }, ['2147483647', '-2147483648'], ['2147483648', '-2147483649']);
  check(t, { type: 'integer', format: 'uint64' }, ['18446744073709551615'], NO_INTEGERS);
  check(t, { type: 'integer', minimum: -2, maximum: 2 }, ['-2', '0', '2'], ['-3', '3']);
  check(t, { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 3 }, ['1', '2'], ['0', '3']);
  check(
    t,
    { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: false },
    ['1', '3'],
    ['0', '4'],
  );
  check(t, { type: 'integer', minimum: 0.5, maximum: 1.5, description: 'one', example: 1 }, ['1'], ['0', '2']);
  check(t, { type: 'integer', enum: [1, 2] }, ['1', '2'], ['3', '01']);
  t.end();
});

t.test('a number is one of JSON, a boolean one of two words', (t) => {
  check(
    t,
    { type: 'number', minimum: -1.5, exclusiveMaximum: 1e3 },
    ['0', '-1.5', '1.50', '9.99e2', '-0'],
    ['-1.6', '1000', '1e3', '.5', '5.', '1e999', 'NaN', '0x1', '%31', '1,5'],
  );
  check(t, { type: 'number', maximum: 9007199254740992 }, ['9007199254740992'], ['9007199254740993']);
  check(t, { type: 'boolean' }, ['true', 'false'], ['True', '1', '0', 'yes', 'null']);
  t.end();
});

t.test('a text is what its escapes stand for, and never two segments', (t) => {
  const texts = ['a', '1;x=y', '%20', '%C3%A9', '...', '~', '%252F', '1', 'true', 'a,b'];
  for (const schema of [{ type: 'string' }, {}, true, { description: 'any' }]) check(t, schema, texts, NO_TEXTS);
  check(t, { type: 'string', enum: ['page.css', 'é'] }, ['page.css', '%C3%A9'], ['page.cs', 'PAGE.css', 'page.css%20']);
  check(t, { type: 'string', enum: [1, true, null] }, ['1', 'true'], ['2', 'null']);
  check(t, { const: 'x' }, ['x'], ['y']);
  check(
    t,
    { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 3 },
    ['ab', 'abc'],
    ['a', 'abcd', 'ab1', 'ab%0A'],
  );
  check(t, { type: 'string', maxLength: 1 }, ['a', '%C3%A9', '%F0%9F%90%B1'], ['ab', '%C3%A9a']);
  t.end();
});

t.test('of formats uuid and date are held to, any other is a note', (t) => {
  const uuid = '00000000-0000-0000-0000-000000000001';
  check(
    t,
    { type: 'string', format: 'uuid' },
    [uuid, '123E4567-e89b-42d3-a456-426614174000'],
    ['123e4567', `${uuid}0`],
  );
  check(
    t,
    { type: 'string', format: 'date' },
    ['2028-02-29'],
    ['2026-02-29', '2026-13-01', '2026-1-1', '20260101', 'x'],
  );
  for (const format of ['date-time', 'int64', 'email', 'byte', 'x']) check(t, { type: 'string', format }, ['any'], []);
  t.end();
});

t.test('a list is what stands between commas', (t) => {
  check(
    t,
    { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, maxItems: 3, uniqueItems: true },
    ['1,2', '1,2,3'],
    ['1', '1,2,3,4', '1,1', '1,', '1,a', '0,1', '1%2C2'],
  );
  check(t, { type: 'array', items: { enum: ['é', ','] } }, ['%C3%A9', '%C3%A9,%2C'], ['e', ...NO_TEXTS]);
  check(t, { type: 'array' }, ['a', 'a,b'], NO_TEXTS);
  t.end();
});

t.test('combinations hold, whichever of its types a text is read as', (t) => {
  check(t, { type: ['integer', 'null'], minimum: 1 }, ['1'], ['0', 'null', 'a']);
  check(t, { type: ['integer', 'string'], minimum: 1 }, ['1', 'a', '0'], NO_TEXTS);
  check(t, { oneOf: [{ type: 'integer' }, { enum: ['me'] }] }, ['1', 'me'], ['you']);
  check(t, { type: 'integer', oneOf: [{ minimum: 5 }, { maximum: 5 }] }, ['4', '6'], ['5', 'a']);
  check(
    t,
    {
      anyOf: [
        { type: 'string', format: 'uuid' },
        { type: 'string', pattern: '^x' },
      ],
    },
    ['x1'],
    ['1'],
  );
  check(t, { type: 'string', allOf: [{ minLength: 2 }, { maxLength: 3 }] }, ['ab'], ['a', 'abcd']);
  check(t, { type: 'string', not: { enum: ['me'] } }, ['you'], ['me']);
  check(t, { type: 'integer', nullable: true }, ['1'], ['null']);
  check(t, false, [], ['a', '1']);
  t.end();
});

t.test('a schema without a type is about what it speaks of', (t) => {
  const others = ['1', 'true', 'a,b', 'A', '%41', '1e9', '1.5'];
  check(t, { pattern: '^[a-z]+$' }, ['ab', 'true'], ['1', 'a,b', 'A', '%41', '1e9', 'a%0A']);
  check(t, { maxLength: 2 }, ['a', '12', '%41'], ['abc', '123', 'a,b']);
  check(t, { format: 'uuid' }, ['00000000-0000-0000-0000-000000000001'], others);
  check(t, { minimum: 5 }, ['5', '7.5'], ['4', 'a', '5,6', 'true']);
  check(t, { format: 'int32' }, ['5'], ['5.5', 'a', '2147483648']);
  check(t, { items: { pattern: '^[a-z]$' } }, ['a', 'a,b'], ['1', 'ab', 'a,1']);
  check(t, { anyOf: [{ pattern: '^x' }, { minimum: 5 }] }, ['x1', '6'], ['1', 'y', 'y,x', 'true']);
  check(t, { not: { pattern: '^x' } }, ['y', '1', 'y,x'], ['x', 'x,y']);
  check(t, { not: { minimum: 5 } }, ['4'], ['5', '6']);
  check(t, { allOf: [{ enum: ['a1', 'b'] }, { pattern: '^[a-z]$' }] }, ['b'], ['a1', 'c', '1']);
  check(t, { type: 'string', allOf: [{ minimum: 5 }] }, ['4', 'a'], NO_TEXTS);
  t.end();
});

t.test('what a path can not be held to is let through as text, and says so', (t) => {
  const nested = (depth: number): object => (depth === 0 ? {} : { anyOf: [nested(depth - 1), nested(depth - 1)] });
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /no schema/],
    [{ type: 'object' }, /type object/],
    [{ type: 'integer', multipleOf: 2 }, /multipleOf/],
    [{ $ref: '#/components/schemas/X' }, /\$ref/],
    [{ type: 'string', pattern: '(' }, /no regular expression/],
    [{ type: 'string', pattern: '^(?!a)' }, /\(\?!a\)/],
    [{ type: 'string', pattern: 1 }, /pattern/],
    [{ type: 'integer', minimum: '1' }, /"1"/],
    [{ enum: 'a' }, /enum/],
    [{ anyOf: {} }, /list of schemas/],
    [{ anyOf: [1] }, /no schema/],
    [{ if: {}, then: false }, /if/],
    [nested(12), /so large/],
  ];
  for (const [schema, problem] of rows) {
    t.match(schemaProblem(schema), problem);
    const fits = fitsOf(schema);
    for (const value of ['a', '1', '%C3%A9']) t.ok(fits(value), value);
    for (const value of NO_TEXTS) t.notOk(fits(value), value);
  }
  t.end();
});

/** The attack: a contract whose every request, without a key, takes seconds. */
t.test('400 patterns cost a path little more than one does', (t) => {
  const text = 'a'.repeat(8_000);
  const timeOf = (count: number): number => {
    const fits = fitsOf({ allOf: Array<object>(count).fill({ pattern: '^(a|a)*c$' }) });
    return Math.min(
      ...Array.from({ length: 10 }, () => {
        const beganMs = performance.now();
        t.notOk(fits(text));
        return performance.now() - beganMs;
      }),
    );
  };
  const times = timeOf(400) / timeOf(1);
  t.ok(times < 40, `${times.toFixed(1)} times as long`);
  t.match(
    schemaProblem({ allOf: Array<object>(10).fill({ pattern: '^a{0,400}$' }) }),
    /too large/,
    'nor do they take longer to get ready',
  );
  t.end();
});

t.test('only the style simple is held to', (t) => {
  const reported: string[] = [];
  const declared = ['simple', 'matrix', undefined].map((style, index) => ({
    name: `p${index}`,
    in: 'path',
    schema: { type: 'integer' },
    ...(style === undefined ? {} : { style }),
  }));
  const parameters = readParameters('/{p0}/{p1}/{p2}', declared, (message) => reported.push(message));
  t.same(reported, ["{p1} can't be held to a schema: style matrix is not checked in paths"]);
  const fits = createFits({ path: '/{p0}/{p1}/{p2}', parameters });
  t.ok(fits('/1/;p1=2/3'));
  for (const path of ['/a/2/3', '/1/2/c', '/1/%2F/3']) t.notOk(fits(path), path);
  t.end();
});

t.test('each parameter of a segment has its own text', (t) => {
  const piece = fc.constantFrom('a', '-', '..', '{p}');
  const templates = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
  const texts = fc
    .array(fc.constantFrom('a', '-', '.', 'b'), { minLength: 1, maxLength: 8 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(templates, texts, (shape, text) => {
      let count = 0;
      const template = shape.replaceAll('{p}', () => `{p${(count += 1)}}`);
      const expression = template
        .replaceAll(/[-.]/g, '\\$&')
        .replace(/\{\w+\}([^{}]*)$/, '(.+)$1')
        .replaceAll(/\{\w+\}/g, '(.+?)');
      const [, ...values] = new RegExp(`^${expression}$`).exec(text) ?? [];
      const fits = (schemaOf: (value: string) => object): boolean =>
        createFits({
          path: `/${template}`,
          parameters: values.map((value, index) => ({ name: `p${index + 1}`, schema: schemaOf(value) })),
        })(`/${text}`);
      if (values.length === 0) return true;
      return fits((value) => ({ const: value })) && !fits((value) => ({ not: { const: value } }));
    }),
    { numRuns: 2000 },
  );
  t.notOk(createFits({ path: '/{a}{b}', parameters: [] })('/%20'), 'an escape is not torn in two');
  t.notOk(createFits({ path: '/{a}2{b}', parameters: [] })('/x%2Fy'), 'nor by text');
  t.end();
});
