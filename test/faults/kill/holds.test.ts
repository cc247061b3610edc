import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { day } from '../../e2e/ledger.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { childrenOf, temporaryFolder } from '../../servers/program.js';
import { startRedis, type RedisServer } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream, type Upstream } from '../../servers/upstream.js';

const HOLD = 40;
const LIMIT = 4_000;
/** Requests under way at each gateway. */
const EACH = 12;
const COST = { hold: HOLD, from: { json: '/usage/total_tokens' } };
const CONTRACT = { openapi: '3.0.3', paths: { '/ask': { get: { operationId: 'ask', 'x-petgate': { cost: COST } } } } };
const PLANS = {
  tokens: { limits: { minute: 'unlimited', day: LIMIT }, ban: NO_BAN },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};

/** An upstream that answers with random figures, and knows what it has been asked for. */
class Tokens {
  readonly upstream: Upstream;
  /** Tokens of the responses that were sent. */
  sum = 0;
  open = 0;
  /** The most that was used and held at any moment. */
  most = 0;
  /** Requests to this port are never answered. */
  silentPort: number | null = null;
  readonly silent: ServerResponse[] = [];

  constructor(upstream: Upstream) {
    this.upstream = upstream;
    upstream.handle = (seen, response) => {
      this.open += 1;
      this.most = Math.max(this.most, this.sum + this.open * HOLD);
      if (this.silentPort !== null && seen.headers['x-forwarded-host'] === `127.0.0.1:${this.silentPort}`) {
        this.silent.push(response);
        return;
      }
      const tokens = 1 + Math.floor(Math.random() * HOLD);
      setTimeout(() => {
        this.open -= 1;
        this.sum += tokens;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ usage: { total_tokens: tokens } }));
      }, Math.random() * 20);
    };
  }
}

/** Asks again and again, until the day has nothing left. */
async function drain({ url }: Gateway, key: string, isOver: () => boolean): Promise<void> {
  for (let refused = 0; refused < 20 && !isOver();) {
    const answered = await fetch(`${url}/ask`, { headers: { authorization: `Bearer ${key}` } })
      .then(async (response) => {
        await response.arrayBuffer();
        return response.status;
      })
      .catch(() => 0);
    // A hold that is being settled may leave enough again.
    refused = answered === 429 ? refused + 1 : 0;
  }
}

/** What access logs say of admitted requests. */
function logged(gateways: readonly Gateway[]) {
  const sums = { requests: 0, net: 0, tokens: 0 };
  for (const line of gateways.flatMap(({ program }) => program.output().split('\n'))) {
    if (!line.includes('"counted":true')) continue;
    const { units, settled, status } = JSON.parse(line) as Record<'units' | 'settled' | 'status', number | undefined>;
    sums.requests += 1;
    sums.net += settled ?? units ?? NaN;
    if (status === 200) sums.tokens += settled ?? NaN;
  }
  return sums;
}

async function ledgerOf(gateway: Gateway) {
  const range = `from=${day(Date.now() - 86_400_000)}&to=${day(Date.now())}`;
  const { body } = await gateway.admin('GET', `/admin/v1/usage?${range}`);
  const { requests, units, returned } = (body as { totals: Record<string, number> }).totals;
  return { requests: requests!, net: units! - returned! };
}

async function startFleet(t: Test, count: number, redis: RedisServer | null, workers: number) {
  const tokens = new Tokens(await startUpstream(t));
  const contract = join(temporaryFolder(t), 'contract.json');
  writeFileSync(contract, JSON.stringify(CONTRACT));
  const environment = { PETGATE_CONTRACT: contract, ...(redis === null ? {} : { REDIS_URL: redis.url }) };
  const upstreams = { default: { addresses: [tokens.upstream.url] } };
  const config = { workers, log: { access: true }, store: { on_failure: 'refuse' }, upstreams };
  const gateways = await Promise.all(
    Array.from({ length: count }, () => startGateway(t, { plans: PLANS, config, environment })),
  );
  return { tokens, gateways };
}

t.test(
  'three gateways, one is killed and Redis stands still: the bill is what was used and what was lost',
  async (t) => {
    const redis = await startRedis();
    t.teardown(() => redis.stop());
    const { tokens, gateways } = await startFleet(t, 3, redis, 1);
    const [victim, ...others] = gateways as [Gateway, Gateway, Gateway];
    const { body } = await victim.admin('POST', '/admin/v1/customers', { name: 'Acme', plan: 'tokens' });
    const customer = (body as { id: string }).id;
    const keys = await Promise.all(gateways.map((gateway) => gateway.createKey({ customer, name: 'one of three' })));
    let isKilled = false;
    const work = gateways.flatMap((gateway, n) =>
      Array.from({ length: EACH }, () => drain(gateway, keys[n]!.key, () => isKilled && gateway === victim)),
    );
    await until('the load runs', () => tokens.sum > LIMIT / 10);
    redis.freeze();
    const sumBefore = tokens.sum;
    await until('nothing passes', () => tokens.open === 0 || tokens.sum > sumBefore + EACH * 3 * HOLD);
    redis.thaw();
    tokens.silentPort = victim.port;
    await Promise.all(work.slice(EACH));
    await until('the victim holds', () => tokens.silent.length > 0);
    const billed = async (): Promise<boolean> => {
      const [ledger, log] = [await ledgerOf(others[0]), logged(gateways)];
      const held = tokens.silent.length;
      return ledger.requests === log.requests + held && ledger.net === log.net + held * HOLD;
    };
    await until('all but these are settled', billed);
    await victim.program.stop('SIGKILL');
    isKilled = true;
    await Promise.all(work);
    await others[0].program.stop('SIGTERM');
    await until('the holds of the killed gateway stay charged, and nothing else', async () => {
      const [ledger, log, held] = [await ledgerOf(others[1]), logged(gateways), tokens.silent.length];
      return ledger.requests === log.requests + held && ledger.net === log.net + held * HOLD;
    });
    const log = logged(gateways);
    t.equal(log.tokens, tokens.sum, 'the log has what the responses said');
    t.ok(tokens.most <= LIMIT, 'never more was used and held than the limit', { most: tokens.most });
    t.comment(
      `${log.requests} requests, ${tokens.sum} tokens, ${tokens.silent.length} holds lost, most ${tokens.most}`,
    );
  },
);

t.test('workers on the embedded store: a killed one leaves its holds charged, and nothing else', async (t) => {
  const { tokens, gateways } = await startFleet(t, 1, null, 2);
  const [gateway] = gateways as [Gateway];
  const { key } = await gateway.createKey({ plan: 'tokens' });
  let isStopped = false;
  const work = Array.from({ length: 2 * EACH }, () => drain(gateway, key, () => isStopped));
  await until('the load runs', () => tokens.sum > LIMIT / 10);
  tokens.silentPort = gateway.port;
  await until('all are held', () => tokens.silent.length === 2 * EACH);
  const settledBefore = logged([gateway]);
  await until('all others are settled', async () => {
    const { requests, net } = await ledgerOf(gateway);
    return net - settledBefore.net === HOLD * (requests - settledBefore.requests);
  });
  process.kill(childrenOf(gateway.program.pid)[0]!, 'SIGKILL');
  isStopped = true;
  const held = tokens.silent.length;
  // The other worker's clients give up, and their responses have no figure: these cost their hold, too.
  // A GET is sent a second time, and not answered either.
  const done = Promise.all(work).then(() => true);
  await until('all have given up', () => {
    for (const response of tokens.silent) response.destroy();
    return Promise.race([done, Promise.resolve(false)]);
  });
  const log = logged([gateway]);
  t.ok(log.requests < settledBefore.requests + held, 'some were lost with their worker');
  t.same(await ledgerOf(gateway), {
    requests: settledBefore.requests + held,
    net: settledBefore.net + held * HOLD,
  });
  t.equal(log.tokens, tokens.sum);
});
