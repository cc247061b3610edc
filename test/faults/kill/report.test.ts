import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { openClient } from '../../e2e/client.js';
import { ledgerOf } from '../../e2e/ledger.js';
import { startGateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { temporaryFolder } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { startLoad } from '../load.js';

const EACH = 16;
/** PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 20 : 3;
/** The merge before a report and the report itself take a few milliseconds each. */
const STEP_MS = 2;
const PLANS = {
  roomy: { limits: { minute: 10_000_000, day: 10_000_000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
};

t.setTimeout(600_000);

t.test(
  'kill -9 in the midst of merges and reports: the store opens, and the ledger has all that was answered',
  async (t) => {
    const upstream = await startUpstream(t);
    const options = {
      plans: PLANS,
      config: { upstreams: { pets: { addresses: [upstream.url] } } },
      dataFolder: temporaryFolder(t),
    };
    let gateway = await startGateway(t, options);
    const { id, key } = await gateway.createKey({ plan: 'roomy' });
    let answered = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const client = openClient(t, gateway.url, EACH);
      const load = startLoad(t, [client], key, EACH);
      await until('the load runs', () => load.count('200') > 200);
      const reports = ['key', 'day', 'customer'].map((by) => gateway.admin('GET', `/admin/v1/usage?by=${by}`));
      await pause(kill * STEP_MS);
      await Promise.all([gateway.program.stop('SIGKILL'), Promise.allSettled(reports)]);
      await load.stop();
      await client.close();
      answered += load.count('200');
      gateway = await startGateway(t, options);
      const { requests } = await ledgerOf(gateway, id);
      t.ok(requests >= answered && requests <= answered + kill * EACH, `kill ${kill}: as many as were answered`, {
        requests,
        answered,
      });
    }
  },
);
