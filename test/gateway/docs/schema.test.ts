import t, { type Test } from 'tap';
import { pageOf, readReference, wordsOf } from './read.js';

/** What the page says of this schema, and how long the page is. */
function shown(t: Test, schema: object, schemas: object = {}): { readonly words: string; readonly length: number } {
  const content = { 'application/json': { schema } };
  const paths = { '/a': { get: { operationId: 'a', responses: { 200: { description: 'Result', content } } } } };
  const page = pageOf(readReference(t, { paths, components: { schemas } }), 'a');
  const words = wordsOf(page);
  return { words: words.slice(words.indexOf('Result'), words.lastIndexOf(' operations')), length: page.length };
}

t.test('fields are shown with type and constraints, also those of combined schemas', (t) => {
  const { words } = shown(
    t,
    {
      allOf: [{ $ref: '#/components/schemas/Base' }, { required: ['name'] }],
      properties: {
        list: { type: 'array', minItems: 2, items: { type: 'string', pattern: '^a' } },
        either: { oneOf: [{ $ref: '#/components/schemas/Base' }, { type: 'string' }, { type: 'null' }] },
        maybe: { anyOf: [{ $ref: '#/components/schemas/Base' }, { type: 'null' }] },
        old: { type: 'string', nullable: true, readOnly: true, deprecated: false, enum: ['x', 1, null] },
        odd: true,
        plain: { type: 'string', pattern: '^[^\\u0000]+$' },
        __proto__: null,
      },
      additionalProperties: { type: 'boolean' },
    },
    { Base: { properties: { name: { type: ['string', 'null'], maxLength: 9 } } } },
  );
  for (const wanted of [
    'list array of string, min items 2',
    'either Base or string or null',
    'maybe Base or null Fields name string or null, max length 9',
    'old string or null, one of "x", 1, null, read only',
    'odd any',
    'plain string, pattern ^[^\\u0000]+$',
    'name required string or null, max length 9',
    'any other name boolean',
  ])
    t.ok(words.includes(wanted), `${wanted}: ${words}`);
  t.end();
});

t.test('schemas that contain themselves end', (t) => {
  const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  for (const [name, schemas] of Object.entries({
    self: { A: ref('A') },
    ring: { A: ref('B'), B: ref('A') },
    items: { A: { type: 'array', items: ref('A') } },
    all: { A: { allOf: [ref('A'), { allOf: [ref('A')] }], properties: { a: ref('A') } } },
    one: { A: { oneOf: [ref('A'), { anyOf: [ref('A'), ref('A')] }] } },
    nothing: { A: ref('None') },
    outside: { A: { $ref: 'https://other.test/a.json#/b' } },
    root: { A: { $ref: '#' } },
    odd: { A: { properties: [1], required: 'a', allOf: {}, enum: 7, type: [7], items: 'x' } },
  }))
    t.ok(shown(t, ref('A'), schemas).length < 20_000, name);
  t.end();
});

t.test('what schemas make of each other without bound is cut', (t) => {
  const names = Array.from({ length: 30 }, (_, n) => `S${n}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
  const schemas = Object.fromEntries(names.map((name) => [name, { description: 'x'.repeat(100), properties }]));
  const { words, length } = shown(t, { $ref: '#/components/schemas/S0' }, schemas);
  t.match(words, 'More is in openapi.json.');
  t.ok(length < 2_000_000, `${length}`);
  t.end();
});
