import t from 'tap';
import { bodyOf } from '../../../src/gateway/docs/example.js';
import { parseExact } from '../../../src/shared/text/exact-numbers.js';
import type { Mapping } from '../../../src/gateway/contract/document/references.js';

const SELF = { type: 'object', properties: { self: { $ref: '#self' } } };
const resolve = (value: unknown) => {
  const isReference = typeof value === 'object' && value !== null && '$ref' in value;
  return { name: null, reference: null, value: (isReference ? SELF : (value ?? {})) as Mapping };
};
const textOf = (media: string, type = 'application/json'): string =>
  bodyOf(type, parseExact(media) as Mapping, resolve).text.replaceAll(/\s+/g, '');

t.test('the examples of the document come first, with integers as written', (t) => {
  t.equal(textOf('{"example":{"id":9007199254740993}}'), '{"id":9007199254740993}');
  t.equal(textOf('{"examples":{"a":{"value":[9223372036854775807]},"b":{}}}'), '[9223372036854775807]');
  t.equal(
    textOf('{"example":{"id":9007199254740993,"b":"ü"}}', 'application/x-www-form-urlencoded'),
    'id=9007199254740993&b=%C3%BC',
  );
  t.equal(textOf('{"example":"<a/>"}', 'application/xml'), '<a/>');
  t.equal(textOf('{"example":{"a":1}}', 'application/xml'), '');
  t.end();
});

t.test('without one, it is made from the schema', (t) => {
  const schema = {
    allOf: [{ properties: { a: { type: 'string', example: 'x' }, b: { type: ['integer', 'null'], minimum: 3 } } }],
    properties: { c: { items: { enum: ['one'] } }, d: { oneOf: [{ type: 'boolean' }] }, e: { const: 1.5 }, f: {} },
  };
  t.equal(textOf(JSON.stringify({ schema })), '{"a":"x","b":3,"c":["one"],"d":true,"e":1.5}');
  t.equal(textOf('{}'), '');
  t.ok(textOf(JSON.stringify({ schema: { $ref: '#self' } })).length < 200, 'one that contains itself ends');
  t.end();
});
