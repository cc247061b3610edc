import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { until } from '../servers/until.js';

for (const workers of [1, 2])
  t.test(`${workers} process(es): after SIGTERM it serves on, not ready, for as long as drain says`, async (t) => {
    const gateway = await startGateway(t, { config: { workers, drain: '3s', shutdown: '1s' } });
    const { key } = await gateway.createKey({ plan: 'pro' });
    const ask = async (path: string): Promise<number> =>
      (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}`, connection: 'close' } })).status;
    t.equal(await ask('/v1/usage'), 200);
    const signalledMs = performance.now();
    const stopped = gateway.program.stop('SIGTERM');
    await until('it is not ready', async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 503);
    t.equal(await ask('/v1/usage'), 200, 'a new connection is served');
    await stopped;
    t.ok(performance.now() - signalledMs >= 3_000, 'not stopped before its time');
    t.equal(gateway.program.child.exitCode, 0);
  });
