import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openClient } from '../../e2e/client.js';
import { startGateway } from '../../servers/gateway.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';
import { PLANS } from '../fleet.js';
import { kindOf } from '../load.js';

t.test('a data folder that is deleted under a gateway: it refuses all, and does not end well', async (t) => {
  for (const workers of [1, 2]) {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      plans: PLANS,
      config: { workers, upstreams: { pets: { addresses: [upstream.url] } } },
    });
    const { id, key } = await gateway.createKey({ plan: 'roomy' });
    const client = openClient(t, gateway.url, 1);
    t.equal(kindOf(await client.send(key)), '200');
    await rm(workers === 1 ? gateway.dataFolder : join(gateway.dataFolder, 'admission'), { recursive: true });
    await until('it refuses', async () => kindOf(await client.send(key)) !== '200');
    for (let n = 0; n < 20; n += 1) t.equal(kindOf(await client.send(key)), 'store_unavailable');
    t.match(await gateway.admin('POST', '/admin/v1/keys', { plan: 'roomy', name: 'new' }), { status: 503 });
    t.match(await gateway.admin('DELETE', `/admin/v1/keys/${id}`), { status: 503 });
    t.match(await gateway.admin('PUT', `/admin/v1/bans/${id}`, { for: '1h' }), { status: 503 });
    await until('it is not ready', async () => (await gateway.admin('GET', '/readyz')).status === 503);
    t.match((await gateway.admin('GET', '/readyz')).body, {
      parts: { store: { ok: false, detail: /was deleted while the gateway ran/ } },
    });
    await gateway.program.stop();
    t.equal((await gateway.program.exited).code, 1);
  }
});
