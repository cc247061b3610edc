import t from 'tap';
import { expand, follow } from '../../../../src/gateway/contract/document/references.js';

const DOCUMENT = {
  a: { $ref: '#/b~1c' },
  'b/c': { $ref: '#/d%20e/1' },
  'd e': [0, { type: 'integer' }],
  circle: { $ref: '#/circle' },
  tree: { items: { $ref: '#/tree' } },
  nothing: { items: { $ref: '#/constructor' } },
};

t.test('references are followed as far as they lead', (t) => {
  t.same(follow(DOCUMENT.a, DOCUMENT), { type: 'integer' });
  t.equal(follow({ $ref: '#' }, DOCUMENT), DOCUMENT);
  for (const $ref of ['#/circle', '#/none', '#/d%20e/2', '#/constructor', '#anchor', 'a.yaml', '#/%'])
    t.equal(follow({ $ref }, DOCUMENT), undefined, $ref);
  t.end();
});

t.test('a schema is copied without references, unless they never end or lead nowhere', (t) => {
  t.same(expand({ anyOf: [{ $ref: '#/a' }, { type: 'string' }] }, DOCUMENT), {
    anyOf: [{ type: 'integer' }, { type: 'string' }],
  });
  for (const schema of [DOCUMENT.tree, DOCUMENT.circle, DOCUMENT.nothing]) t.equal(expand(schema, DOCUMENT), undefined);
  t.end();
});
