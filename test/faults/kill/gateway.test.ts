import t from 'tap';
import { startGateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { childrenOf, temporaryFolder } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { openClient } from '../../e2e/client.js';
import { ledgerOf } from '../../e2e/ledger.js';
import { startLoad } from '../load.js';

const EACH = 16;
const ROUNDS = 3;
const PLANS = {
  roomy: { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
};

t.test('kill -9 of a gateway on the embedded engine takes back nothing that was answered', async (t) => {
  const upstream = await startUpstream(t);
  const options = {
    plans: PLANS,
    config: { upstreams: { pets: { addresses: [upstream.url] } } },
    dataFolder: temporaryFolder(t),
  };
  let gateway = await startGateway(t, options);
  const { id, key } = await gateway.createKey({ plan: 'roomy' });
  let answered = 0;
  let unanswered = 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const client = openClient(t, gateway.url, EACH);
    const load = startLoad(t, [client], key, EACH);
    await until('the load runs', () => load.count('200') > 300 * round);
    await gateway.program.stop('SIGKILL');
    await load.stop();
    await client.close();
    answered += load.count('200');
    // What was under way when it died, and nothing else, may have been counted without an answer.
    unanswered += EACH;

    gateway = await startGateway(t, options);
    const { requests } = await ledgerOf(gateway, id);
    t.ok(requests >= answered, `round ${round}: the ledger has all that was answered`, { ledger: requests, answered });
    t.ok(requests <= answered + unanswered, `round ${round}: and at most what was in flight besides`, {
      ledger: requests,
      answered,
      unanswered,
    });
    const after = openClient(t, gateway.url, 1);
    const { status, headers } = await after.send(key);
    t.equal(status, 200, 'it serves again');
    t.equal(
      Number(headers.get('x-ratelimit-remaining')),
      1_000_000 - requests - 1,
      'and the buckets remember what the ledger does',
    );
    answered += 1;
    t.comment(`round ${round}: ${answered - 1} answered, ledger ${requests}`);
  }
});

t.test('a worker that is killed takes nothing with it, and another takes its place', async (t) => {
  const upstream = await startUpstream(t);
  const config = { log: { access: false }, upstreams: { pets: { addresses: [upstream.url] } } };
  const gateway = await startGateway(t, { plans: PLANS, config, environment: { PETGATE_WORKERS: '2' } });
  const { id, key } = await gateway.createKey({ plan: 'roomy' });
  const load = startLoad(t, [openClient(t, gateway.url, EACH)], key, EACH);
  await until('the load runs', () => load.count('200') > 300);
  const before = childrenOf(gateway.program.pid);
  t.equal(before.length, 2, 'two workers');
  process.kill(before[0]!, 'SIGKILL');
  await until(
    'another worker is there',
    () => childrenOf(gateway.program.pid).filter((pid) => pid !== before[0]).length === 2,
  );
  const soFar = load.count('200');
  await until('the load goes on', () => load.count('200') > soFar + 300);
  await load.stop();
  const answered = load.count('200');
  const broken = load.count('broken');
  const { requests } = await ledgerOf(gateway, id);
  t.ok(
    requests >= answered && requests <= answered + broken,
    'the ledger has what was answered, and at most what broke besides',
    { ledger: requests, answered, broken },
  );
  t.ok(broken <= EACH, 'only what was in flight broke', { broken });
  t.same(
    [...load.tally.keys()].filter((kind) => kind !== '200' && kind !== 'broken'),
    [],
    'no answer was an error',
  );
  t.comment(`${answered} answered, ${broken} broke, ledger ${requests}`);
});
