import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadContract, type LoadedContract } from '../../../../src/gateway/contract/load.js';
import type { Group } from '../../../../src/gateway/contract/served/group.js';
import { createPieces } from '../../../../src/gateway/contract/served/piece.js';
import { danglingIn } from '../../../servers/references.js';

const ODD = 'a"b<c>\\ü';
const operation = (tags: readonly unknown[], schema: string): object => ({
  tags,
  responses: { 200: { description: '', content: { 'a/b': { schema: { $ref: `#/components/schemas/${schema}` } } } } },
});
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'All', version: '1', description: 'has "#/components/schemas" in its text' },
  servers: [{ url: '/v1' }],
  tags: [{ name: ODD, description: 'Odd.' }, { name: 'b' }, { name: 'unused' }],
  paths: {
    '/x/{id}': {
      summary: 'Both',
      parameters: [{ $ref: '#/components/parameters/Id' }],
      get: operation([ODD], 'Tree'),
      post: operation(['b', ODD], 'Animal'),
      delete: operation(['b'], 'Only'),
    },
    '/y': { get: operation(['__proto__'], 'Pair'), put: operation([], 'Only'), 'x-more': { a: 1 } },
    '/z': {
      get: {
        tags: ['links'],
        responses: {
          200: { $ref: '#/paths/~1y/get/responses/200' },
          201: { description: '', links: { next: { operationRef: '#/paths/~1x~1{id}/get' } } },
        },
      },
    },
  },
  webhooks: { changed: { post: operation(['b'], 'Only') } },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true, schema: { $ref: '#/components/schemas/Id' } } },
    schemas: {
      Id: { type: 'string' },
      Tree: { properties: { left: { $ref: '#/components/schemas/Tree' }, leaf: { $ref: '#/x-shared/Leaf' } } },
      Animal: { discriminator: { propertyName: 'kind', mapping: { dog: '#/components/schemas/Dog' } } },
      Dog: { type: 'object' },
      Only: { type: 'null' },
      Pair: { $ref: '#/components/schemas/a~1b~0%22"/properties/one' },
      'a/b~""': { properties: { one: { type: 'string' } } },
    },
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  },
  'x-shared': { Leaf: { type: 'boolean' }, Other: { type: 'boolean' } },
};

interface Piece {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, object>>;
  readonly [name: string]: unknown;
}

function load(t: Test): LoadedContract {
  const path = join(t.testdir({}), 'api.json');
  writeFileSync(path, JSON.stringify(DOCUMENT));
  return loadContract(path, { own_paths: '/_own' });
}

t.test('the document is written as JSON.stringify would, and each part is where it is said to be', (t) => {
  const { document, parts } = load(t);
  t.equal(document.toString(), JSON.stringify(JSON.parse(document.toString())));
  for (const { at, start, end } of parts) {
    const value = at.reduce<unknown>(
      (holder, name) => (holder as Record<string, unknown>)[name],
      JSON.parse(document.toString()),
    );
    t.equal(document.subarray(start, end).toString(), `${JSON.stringify(at.at(-1))}:${JSON.stringify(value)}`);
  }
  t.end();
});

t.test('a piece has the operations of its tag and what they lead to, and nothing else', (t) => {
  const pieces = createPieces(load(t));
  const read = (group: Group): Piece => JSON.parse(pieces(group)!.toString()) as Piece;
  const membersOf = ({ paths, components }: Piece): readonly unknown[] => [
    Object.entries(paths).map(([path, item]) => `${path} ${Object.keys(item).join(' ')}`),
    Object.keys(components['schemas'] ?? {}),
  ];
  const odd = read(ODD);
  t.strictSame(membersOf(odd), [['/v1/x/{id} summary parameters get post'], ['Id', 'Tree', 'Animal', 'Dog']]);
  t.strictSame(odd.tags, [{ name: ODD, description: 'Odd.' }]);
  t.strictSame(odd['x-shared'], { Leaf: { type: 'boolean' } });
  t.strictSame(Object.keys(odd), ['openapi', 'info', 'servers', 'tags', 'paths', 'components', 'x-shared', 'security']);
  t.strictSame(odd.components['securitySchemes'], { key: { type: 'http', scheme: 'bearer' } });
  t.strictSame(membersOf(read('b')), [['/v1/x/{id} summary parameters post delete'], ['Id', 'Animal', 'Dog', 'Only']]);
  t.strictSame(membersOf(read('__proto__')), [['/v1/y x-more get'], ['Pair', 'a/b~""']]);
  t.strictSame(membersOf(read(null)), [['/v1/y x-more put'], ['Only']]);
  t.strictSame(
    membersOf(read('links')),
    [
      ['/v1/y get', '/v1/z get'],
      ['Pair', 'a/b~""'],
    ],
    'a link is not followed',
  );
  t.ok(read('gateway').paths['/_own/usage']);
  for (const group of ['unused', '', 'constructor', 'untagged']) t.equal(pieces(group), null, group);
  t.end();
});

t.test('every operation of the shipped contract is in the piece of each of its tags, with all that it needs', (t) => {
  const contract = loadContract();
  const pieces = createPieces(contract);
  for (const { method, path, tags } of contract.routes.operations)
    for (const tag of tags) {
      const piece = JSON.parse(pieces(tag)!.toString()) as Piece;
      t.ok(piece.paths[path]?.[method.toLowerCase()], `${method} ${path}`);
      t.strictSame(danglingIn(piece), []);
    }
  t.end();
});

t.test('as long as somebody has a piece, all others get the same', (t) => {
  const pieces = createPieces(loadContract());
  const first = pieces('pets');
  t.equal(pieces('pets'), first);
  t.end();
});
