import fc from 'fast-check';
import t from 'tap';
import { parseInt64, parseNewPet, parsePetId, petJson } from '../../src/pets/pet.js';
import { Refusal } from '../../src/pets/refusal.js';

const utf8 = (text: string): Buffer => Buffer.from(text);
const seed = Date.now() & 0x7fffffff;
t.comment(`seed ${seed}`);

t.test('a good body is read digit by digit', (t) => {
  t.same(parseNewPet(utf8('{"name":"Rex","categoryId":9007199254740993}')), {
    name: 'Rex',
    categoryId: 9007199254740993n,
  });
  t.same(
    parseNewPet(utf8(' { "status" : "sold" ,\r\n\t"categoryId":9223372036854775807 , "n\\u0061me":"R\\u00e9x" } ')),
    { name: 'Réx', categoryId: 9223372036854775807n, status: 'sold' },
  );
  t.same(parseNewPet(utf8('{"name":"Rex","categoryId":-9223372036854775808}')), {
    name: 'Rex',
    categoryId: -9223372036854775808n,
  });
  t.same(parseNewPet(utf8('{"name":"\\ud83d\\ude00 \\/","categoryId":0}')), { name: '😀 /', categoryId: 0n });
  t.end();
});

/** Body, and what the message must name. */
const REFUSED: readonly (readonly [string | Uint8Array, RegExp])[] = [
  ...[
    '9223372036854775808',
    '-9223372036854775809',
    '1.5',
    '1e3',
    '1.0',
    '1e0',
    '-0',
    '1E3',
    '"1"',
    'null',
    'true',
    `1${'0'.repeat(1_000)}`,
  ].map((value) => [`{"name":"Rex","categoryId":${value}}`, /^categoryId must be a whole number/] as const),
  ...['01', '+1', '.5', '1.', '1e', '-', '0x10', 'NaN', 'Infinity', '1n', '1_000', ''].map(
    (value) => [`{"name":"Rex","categoryId":${value}}`, /not valid JSON/] as const,
  ),
  ['{"name":"Rex"}', /^categoryId is missing/],
  ['{"categoryId":1}', /^name is missing/],
  ['{}', /^name is missing/],
  ...['1', 'null', 'true'].map((value) => [`{"name":${value},"categoryId":1}`, /^name must be a string/] as const),
  ...['""', `"${'x'.repeat(201)}"`, `"${'😀'.repeat(201)}"`].map(
    (value) => [`{"name":${value},"categoryId":1}`, /^name must have 1 to 200 characters/] as const,
  ),
  ...['\\u0000', '\\n', '\\u001f', '\\u007f', '\u007f', '\\u0085', '\u009f'].map(
    (char) => [`{"name":"R${char}x","categoryId":1}`, /^name must not contain control characters/] as const,
  ),
  ...['"Sold"', '"lost"', '""', 'null', '1', '"constructor"'].map(
    (value) =>
      [`{"name":"Rex","categoryId":1,"status":${value}}`, /^status must be one of available, pending, sold/] as const,
  ),
  ...['id', '__proto__', 'constructor', 'Name', 'toString'].map(
    (field) =>
      [`{"name":"Rex","categoryId":1,"${field}":1}`, new RegExp(`^The field "${field}" is not known`)] as const,
  ),
  ['{"__proto__":{"name":"Rex"},"categoryId":1,"name":"Rex"}', /^The field "__proto__" is not known/],
  ['{"name":"Rex","categoryId":1,"name":"Max"}', /"name" is in the body twice/],
  ['{"name":"Rex","categoryId":1,"n\\u0061me":"Rex"}', /"name" is in the body twice/],
  ['{"name":{"a":1,"a":1},"categoryId":1}', /"name" must not be an object or an array/],
  ['{"name":["Rex"],"categoryId":1}', /"name" must not be an object or an array/],
  ...['[]', '"Rex"', '1', 'null', '[{"name":"Rex","categoryId":1}]'].map(
    (body) => [body, /must be a JSON object/] as const,
  ),
  ...['', ' \r\n\t'].map((body) => [body, /body is empty/] as const),
  ...[
    '{',
    '{"name"',
    '{"name":',
    '{"name":"Rex"',
    '{"name":"Rex",}',
    '{"name":"Rex" "categoryId":1}',
    "{'name':'Rex'}",
    '{name:"Rex"}',
    '{"name":"Rex","categoryId":1}x',
    '{"name":"Rex","categoryId":1}{}',
    '{,}',
    '{"name":"Rex\\x"}',
    '{"name":"Rex\n"}',
    '{"name":"\\u12"}',
    '{"name":"Rex\\"}',
    '{"name":tru}',
    '\u00a0{}',
  ].map((body) => [body, /not valid JSON|must be a JSON object/] as const),
  [utf8('\uFEFF{"name":"Rex","categoryId":1}'), /byte order mark/],
  [Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1'), /not valid UTF-8/],
  [Buffer.concat([utf8('{"name":"'), Buffer.of(0xed, 0xa0, 0x80), utf8('","categoryId":1}')]), /not valid UTF-8/],
  [Buffer.concat([utf8('{"name":"'), Buffer.of(0xc0, 0xaf), utf8('","categoryId":1}')]), /not valid UTF-8/],
  ['{"name":"\\ud800","categoryId":1}', /"name" has half of a surrogate pair/],
  ['{"name":"\\ude00\\ud83d","categoryId":1}', /"name" has half of a surrogate pair/],
  ['{"\\ud800":"Rex","name":"Rex","categoryId":1}', /^The field "\?" is not known/],
  ['['.repeat(100_000), /must be a JSON object/],
  ['{"a":'.repeat(100_000), /not valid JSON/],
  [`{"name":${'['.repeat(100_000)}`, /^The body is not valid JSON/],
  [
    `{"categoryId":1,"name":${'["}",{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}}`,
    /^The field "name" must not be an object or an array\.$/,
  ],
  [`{"name":"Rex","categoryId":1,"${'x'.repeat(1_000)}":1}`, /^The field "x{40}\.\.\." is not known/],
  ['{"\\u202e\\u0000\\"\u0007é":1}', /not valid JSON/],
  ['{"name":"Rex","categoryId":1,"\\u202e\\u0000\\"é":1}', /^The field "\?\?\?\?" is not known/],
];

t.test('a bad body is refused with the name of what to mend', (t) => {
  for (const [body, says] of REFUSED) {
    const answer = parseNewPet(typeof body === 'string' ? utf8(body) : body);
    const what = Buffer.from(body).toString('latin1').slice(0, 60);
    if (!(answer instanceof Refusal)) t.fail(`taken: ${what}`);
    else {
      t.equal(answer.code, 'invalid_body', what);
      t.match(answer.message, says, what);
      t.ok(answer.message.length < 200);
    }
  }
  t.end();
});

const NAME_MISSING = 'name is missing. Send it as a string.';
const CATEGORY_MISSING = 'categoryId is missing. Send it as a whole number.';
const CATEGORY_WRONG =
  'categoryId must be a whole number from -9223372036854775808 to 9223372036854775807, written in digits only.';
const STATUS_WRONG = 'status must be one of available, pending, sold, or be left out.';
const UNKNOWN = 'not known. Send name, categoryId and, if you like, status.';

/** Body, and all that it must be told. */
const SEVERAL: readonly (readonly [string, string])[] = [
  ['{}', `${NAME_MISSING} ${CATEGORY_MISSING}`],
  ['{"name":1}', `name must be a string. ${CATEGORY_MISSING}`],
  [
    '{"status":"lost","categoryId":"1","name":""}',
    `name must have 1 to 200 characters. ${CATEGORY_WRONG} ${STATUS_WRONG}`,
  ],
  [
    '{"tag":1,"status":1,"color":[{"a":"]"}],"categoryId":1}',
    `${NAME_MISSING} ${STATUS_WRONG} The fields "tag", "color" are ${UNKNOWN}`,
  ],
  [
    '{"name":"Rex","name":1,"categoryId":{"a":1},"id":1,"id":2}',
    'The field "name" is in the body twice. Send it once. The field "categoryId" must not be an object or ' +
      `an array. The field "id" is ${UNKNOWN}`,
  ],
  [
    '{"name":"\\ud800","name":"Rex","status":[]}',
    `The field "name" is in the body twice. Send it once. ${CATEGORY_MISSING} The field "status" must not ` +
      'be an object or an array.',
  ],
  [
    `{${Array.from({ length: 9 }, (_, index) => `"f${index}":1`).join()}}`,
    `${NAME_MISSING} ${CATEGORY_MISSING} The fields "f0", "f1", "f2", "f3", "f4" and 4 more are ${UNKNOWN}`,
  ],
];

t.test('all mistakes of a body are told at once, in an order that does not depend on it', (t) => {
  for (const [body, says] of SEVERAL) {
    const answer = parseNewPet(utf8(body));
    t.equal(answer instanceof Refusal ? answer.message : 'taken', says, body.slice(0, 60));
  }
  const many = parseNewPet(
    utf8(`{${Array.from({ length: 50_000 }, (_, index) => `"${'x'.repeat(9)}${index}":{}`).join()}}`),
  );
  t.ok(many instanceof Refusal && many.message.length < 600, 'however many they are, the message stays short');
  t.end();
});

t.test('a megabyte of one token is read without harm', (t) => {
  const long = 1_000_000;
  for (const body of [
    `{"name":"${'x'.repeat(long)}","categoryId":1}`,
    `{"name":"${'\\n'.repeat(long / 2)}","categoryId":1}`,
    `{"name":"Rex","categoryId":${'9'.repeat(long)}}`,
    `{"name":"Rex","categoryId":1.${'9'.repeat(long)}}`,
    ' '.repeat(long),
    `{${' '.repeat(long)}`,
    `{"${'\\"'.repeat(long / 2)}`,
  ]) {
    const startedAtMs = performance.now();
    t.ok(parseNewPet(utf8(body)) instanceof Refusal);
    const tookMs = performance.now() - startedAtMs;
    t.ok(tookMs < 5000, `${body.slice(0, 20)}: ${tookMs.toFixed(0)} ms`);
  }
  t.end();
});

t.test(
  'any JSON that JSON.parse reads into a good pet is read to the same pet, and what it refuses is refused',
  (t) => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom('sold', 'pending'),
    );
    const body = fc
      .record({ name: value, categoryId: value, status: value }, { requiredKeys: [] })
      .map((fields) => JSON.stringify(fields));
    const spoilt = fc
      .tuple(body, fc.nat(), fc.string({ maxLength: 2 }))
      .map(([text, at, piece]) => text.slice(0, at % text.length) + piece + text.slice((at % text.length) + 1));
    fc.assert(
      fc.property(fc.oneof(body, spoilt), (text) => {
        const body = utf8(text);
        const ours = parseNewPet(body);
        if (ours instanceof Refusal) return true;
        // From the bytes again: a spoilt text may hold half a surrogate pair, which no UTF-8 has.
        const theirs = JSON.parse(body.toString()) as Record<string, unknown>;
        return (
          theirs['name'] === ours.name &&
          theirs['categoryId'] === Number(ours.categoryId) &&
          theirs['status'] === ours.status
        );
      }),
      { numRuns: 2_000, seed },
    );
    t.end();
  },
);

t.test('every int64 is written as it was read, and nothing else is an int64', (t) => {
  const edge = fc.constantFrom(2n ** 63n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 63n) - 1n, 0n);
  fc.assert(
    fc.property(fc.oneof(edge, fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n })), (value) => {
      const fits = BigInt.asIntN(64, value) === value;
      return parseInt64(value.toString()) === (fits ? value : undefined);
    }),
    { numRuns: 1_000, seed },
  );
  for (const text of ['', ' 1', '1 ', '+1', '-0', '00', '1\n', '１'])
    t.equal(parseInt64(text), undefined, JSON.stringify(text));
  t.equal(parsePetId('9223372036854775807'), 2n ** 63n - 1n);
  t.equal(
    petJson({ id: 2n ** 63n - 1n, name: '"\\', categoryId: -(2n ** 63n) }),
    '{"id":9223372036854775807,"name":"\\"\\\\","categoryId":-9223372036854775808}',
  );
  t.end();
});
