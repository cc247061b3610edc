import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { ConfigError } from '../../../src/gateway/config/files/problem.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { createContractReader, unsettledMs } from '../../../src/gateway/contract/reader.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { temporaryFolder } from '../../servers/program.js';

/** The loop gets no turn at all while something is loaded in it. */
const TURNS = 20;

t.test('a contract is loaded anew beside the event loop, to the same end', async (t) => {
  const folder = temporaryFolder(t);
  const [contract, overlay] = [join(folder, 'api.json'), join(folder, 'policy.yaml')];
  const write = (count: number): void => {
    const paths = Array.from({ length: count }, (_, n) => [`/a${n}/{id}`, { get: { operationId: `op${n}` } }]);
    writeFileSync(contract, JSON.stringify({ openapi: '3.0.3', paths: Object.fromEntries(paths) as object }));
  };
  write(1);
  writeFileSync(overlay, 'overlay: 1.0.0\nactions: [{ target: $, update: { x-petgate: { cost: 3 } } }]');
  const settings = { contract, overlays: [overlay], own_paths: '/_own', upstreams: { default: { deadline: 1 } } };
  const contracts = createContractReader();
  t.equal(contracts.first(settings).routes.operations[0]!.cost, 3);

  write(2_000);
  let [turns, isLoaded] = [0, false];
  const next = contracts.next(settings).finally(() => (isLoaded = true));
  for (; !isLoaded; turns += 1) await nextTurn();
  t.ok(turns > TURNS, `the loop has ${turns} turns meanwhile`);
  const [apart, here] = [await next, loadContract(contract, settings)];
  t.same({ ...apart, routes: apart.routes.operations }, { ...here, routes: here.routes.operations });
  t.match(apart.routes.match('GET', '/a1999/x'), { kind: 'operation', operation: { id: 'op1999', cost: 3 } });

  writeFileSync(overlay, 'overlay: 1.0.0\nactions: nothing');
  const refused = await contracts.next(settings).catch((error: unknown) => error);
  t.ok(refused instanceof ConfigError);
  t.match((refused as ConfigError).problems[0], { file: overlay, line: 2, message: /./ });
  t.same((refused as ConfigError).files, [contract, overlay]);
  writeFileSync(overlay, 'overlay: 1.0.0\nactions: []');
  t.equal((await contracts.next(settings)).routes.operations[0]!.cost, 1, 'put right, it is read again');
});

t.test('what has not changed is not loaded again', async (t) => {
  const settings = { contract: join(packageRoot, 'config/openapi.yaml') };
  const contracts = createContractReader();
  const first = contracts.first(settings);
  t.equal(await contracts.next({ ...settings, upstreams: {} }), first);
  t.not(await contracts.next({ ...settings, base_path: '/v9' }), first);
});

t.test('a document that lost something is trusted once it has been unchanged for a second', (t) => {
  const path = join(temporaryFolder(t), 'api.yaml');
  const read = (text: string, secondsAgo: number): ReturnType<typeof loadContract> => {
    writeFileSync(path, `openapi: 3.1.0\npaths:\n${text}`);
    const at = Date.now() / 1000 - secondsAgo;
    utimesSync(path, at, at);
    return loadContract(path);
  };
  const priced = "  /a: { get: { x-petgate: { scope: 'a:read' } } }\n";
  const whole = read(`${priced}  /b: { get: {} }\n`, 0);
  for (const [what, text, secondsAgo, waits] of [
    ['half of it', priced, 0.1, true],
    ['a scope less', '  /a: { get: {} }\n  /b: { get: {} }\n', 0.1, true],
    ['half of it, for good', priced, 1.1, false],
    ['more of it', `${priced}  /b: { get: {} }\n  /c: { get: {} }\n`, 0, false],
    ['half of it, by a clock that is ahead', priced, -60, false],
  ] as const) {
    const ms = unsettledMs(read(text, secondsAgo), whole);
    t.equal(ms > 0, waits, what);
    t.ok(ms <= 1_000, `${what}: ${ms} ms`);
  }
  t.end();
});
