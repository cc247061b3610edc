import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { holdOf } from '../../../../src/gateway/contract/operation/cost.js';
import { loadContract } from '../../../../src/gateway/contract/load.js';

function load(t: Test, policy: unknown) {
  const path = join(t.testdir({}), 'openapi.json');
  const get = { operationId: 'ask', 'x-petgate': policy };
  writeFileSync(path, JSON.stringify({ openapi: '3.1.0', paths: { '/ask': { get } } }));
  return loadContract(path, { upstreams: { default: { deadline: 15_000 } } }).routes.operations.find(
    ({ id }) => id === 'ask',
  )!;
}

t.test('a cost is a number of units, or a hold with the place of the figure', (t) => {
  const from = { header: 'x-units' };
  t.match(load(t, { cost: 3 }), { cost: 3, metered: null });
  t.match(load(t, { cost: { hold: 40, from: { header: 'X-Units' } } }), {
    cost: 40,
    metered: { said: null, from, missing: 'hold' },
  });
  t.match(load(t, { cost: { hold: { header: 'X-Max', default: 7, max: 9 }, from, missing: 'nothing' } }), {
    cost: 7,
    metered: { said: { header: 'x-max', default: 7, max: 9 }, missing: 'nothing' },
  });
  t.match(load(t, { cost: { hold: 1, from: { json: '/a~1b/~0c/' } } }).metered, { from: { json: ['a/b', '~c', ''] } });
  t.match(load(t, { cost: { hold: 1, from: { bytes: 1024 } }, websocket: true }).metered, { from: { bytes: 1024 } });
  t.end();
});

t.test('a cost that cannot work is refused, with its place and what to write', (t) => {
  const from = { header: 'x-units' };
  for (const [policy, message] of [
    [{ cost: -1 }, /cost: must be a whole number from 0 to 1000000, or \{ hold: 4000/],
    [{ cost: { hold: 0, from } }, /hold: must be a whole number from 1 to 1000000, \{ header/],
    [{ cost: { hold: 4 } }, /from: missing; must be \{ header: x-usage-units \}/],
    [{ cost: { hold: 4, from: {} } }, /from: must be \{ header: .*\{ json: .*\{ bytes: /],
    [{ cost: { hold: 4, from: { jsn: '/a' } } }, /from\.jsn: unknown key; must be \{ header: .*\{ json: .*\{ bytes: /],
    [{ cost: { hold: 4, from: { header: 'x', json: '/a' } } }, /from: must be \{ header: .*\{ json: .*\{ bytes: /],
    [{ cost: { hold: { header: 'x', default: 4, mx: 5 }, from } }, /hold\.mx: unknown key; did you mean "max"\?/],
    [{ cost: { hold: 4, from: { json: 'usage' } } }, /must be a JSON pointer, such as \/usage/],
    [{ cost: { hold: 4, from: { bytes: 0 } } }, /bytes.*must be a whole number from 1/],
    [{ cost: { hold: 4, from, missing: 'all' } }, /missing: must be hold or nothing/],
    [{ cost: { hold: { query: 'a&b', default: 4 }, from } }, /must name a query parameter/],
    [{ cost: { hold: { query: 'a' }, from } }, /default.*must be a whole number from 1/],
    [{ cost: { hold: 4, from }, websocket: true }, /cost: of a WebSocket only the bytes are known/],
    [{ cost: { hold: 4, from }, upstream: 'gateway' }, /cost: the gateway serves this itself/],
  ] as const)
    t.throws(() => load(t, policy), message, JSON.stringify(policy));
  t.end();
});

t.test('a request says how much to hold, within the bounds of the contract', (t) => {
  const said = { query: 'limit', default: 40, max: 60 };
  for (const [query, hold] of [
    ['', 40],
    ['?limit=50', 50],
    ['?limit=61', 60],
    ['?limit=0', 1],
    ['?limit=-5', 40],
    ['?limit=5.5', 40],
    ['?limit=1e3', 40],
    ['?limit=50&limit=1', 40],
    ['?other=3', 40],
    ['?limit=9999999999', 40],
  ] as const)
    t.equal(holdOf(said, { headers: [], query }), hold, query);
  const header = { header: 'x-max', default: 40 };
  t.equal(holdOf(header, { headers: ['X-Max', '70'], query: '' }), 70);
  t.equal(holdOf(header, { headers: ['X-Max', '70', 'x-max', '1'], query: '' }), 40, 'two fields say nothing');
  t.equal(holdOf(header, { headers: ['X-Max', '999999999'], query: '' }), 1_000_000, 'the highest cost there is');
  t.end();
});
