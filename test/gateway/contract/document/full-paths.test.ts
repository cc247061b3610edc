import t from 'tap';
import { FullPaths } from '../../../../src/gateway/contract/document/full-paths.js';

t.test('paths are in full, each operation where its own servers put it', (t) => {
  const { paths } = new FullPaths(
    {
      '/a': { parameters: [1], get: { x: 1 }, put: { servers: [{ url: 'https://h.test/in/' }], x: 2 } },
      '/b': { servers: [{ url: '/' }], summary: 's', get: { servers: [{ url: '/v1' }] } },
      '/v1/b': { servers: [{ url: '' }], get: { x: 'later' }, post: {} },
      'x-mine': 7,
    },
    '/v1',
  );
  t.strictSame(paths, {
    '/v1/a': { parameters: [1], get: { x: 1 } },
    '/in/a': { parameters: [1], put: { x: 2 } },
    '/b': { summary: 's' },
    '/v1/b': { summary: 's', get: {}, post: {} },
    'x-mine': 7,
  });
  t.end();
});

t.test('references to paths follow them', (t) => {
  const full = new FullPaths(
    { '/a/{b~}': { get: {}, put: { servers: [{ url: '/in' }] } }, '/root': { servers: [{ url: '/' }], get: {} } },
    '/v1',
  );
  const rewritten = (reference: string, name = '$ref'): unknown =>
    (JSON.parse(full.rewrite(JSON.stringify({ [name]: reference }))) as Record<string, unknown>)[name];
  t.equal(rewritten('#/paths/~1a~1%7Bb~0%7D/get/responses/200'), '#/paths/~1v1~1a~1%7Bb~0%7D/get/responses/200');
  t.equal(rewritten('#/paths/~1a~1{b~0}/put'), '#/paths/~1in~1a~1%7Bb~0%7D/put');
  t.equal(rewritten('#/paths/~1a~1{b~0}/parameters/0'), '#/paths/~1v1~1a~1%7Bb~0%7D/parameters/0');
  t.equal(rewritten('#/paths/~1a~1{b~0}/get', 'operationRef'), '#/paths/~1v1~1a~1%7Bb~0%7D/get');
  for (const same of ['#/paths/~1root/get', '#/paths/~1none', '#/components/schemas/A', '#/paths/%'])
    t.equal(rewritten(same), same);
  t.equal(full.rewrite('{"description":"\\"$ref\\":\\"#/paths/~1a~1{b~0}\\""}').includes('v1'), false);
  t.end();
});
