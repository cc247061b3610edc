import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { Connection } from '../../bench/load/drive.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { temporaryFolder } from '../../servers/program.js';
import { redisFor } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { ledgerOf } from '../kill/streams.js';

/** PETGATE_LONG=1: a million requests on a thousand connections. */
const IS_LONG = process.env['PETGATE_LONG'] === '1';
const REQUESTS = IS_LONG ? 1_000_000 : 10_000;
const CONNECTIONS = IS_LONG ? 1_000 : 50;
const UNITS = REQUESTS / 2;
const HOLD = 3;
const COST = { hold: HOLD, from: { header: 'X-Usage-Units' } };
const CONTRACT = { openapi: '3.0.3', paths: { '/buy': { get: { operationId: 'buy', 'x-petgate': { cost: COST } } } } };
const PLANS = {
  sold: { limits: { balance: 'prepaid' }, ban: NO_BAN },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};

/** Sends all requests, each connection its next one once the last was answered; returns how often each status came. */
async function sendAll(gateways: readonly Gateway[], key: string): Promise<ReadonlyMap<number, number>> {
  const statuses = new Map<number, number>();
  let left = REQUESTS;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, n) => {
      const { port } = gateways[n % gateways.length]!;
      const request = Buffer.from(
        `GET /buy HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      let answered: (status: number) => void = () => undefined;
      let broken: (error: Error) => void = () => undefined;
      const connection = await Connection.to(
        port,
        (status) => answered(status),
        () => broken(new Error('a connection broke')),
      );
      for (; left > 0;) {
        left -= 1;
        const status = await new Promise<number>((resolve, reject) => {
          [answered, broken] = [resolve, reject];
          connection.send(request, 0);
        });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
      connection.end();
    }),
  );
  return statuses;
}

async function start(t: Test, upstream: string, count: number, workers: number): Promise<readonly Gateway[]> {
  const contract = join(temporaryFolder(t), 'contract.json');
  writeFileSync(contract, JSON.stringify(CONTRACT));
  const environment: Record<string, string> = { PETGATE_CONTRACT: contract };
  if (count > 1) {
    const redis = await redisFor(t);
    environment['REDIS_URL'] = redis.url;
  }
  const config = {
    workers,
    log: { access: false },
    limits: { caller_share: 1 },
    // A busy machine is no outage.
    store: { deadline: '5s', on_failure: 'refuse' },
    upstreams: { default: { addresses: [upstream], connections: 2 * CONNECTIONS } },
  };
  return Promise.all(Array.from({ length: count }, () => startGateway(t, { plans: PLANS, config, environment })));
}

t.setTimeout(3_600_000);

for (const [what, count, workers] of [
  ['two gateways on Redis', 2, 1],
  ['workers on the embedded store', 1, 2],
] as const)
  t.test(`twice as many requests as units in the balance: all units are sold, and none twice (${what})`, async (t) => {
    const upstream = await startUpstream(t);
    let [sold, open, most] = [0, 0, 0];
    upstream.handle = (_seen, response) => {
      upstream.seen.length = 0;
      open += 1;
      most = Math.max(most, sold + open * HOLD);
      const units = 1 + Math.floor(Math.random() * HOLD);
      setImmediate(() => {
        open -= 1;
        sold += units;
        response.writeHead(200, { 'x-usage-units': units, 'content-length': 2 }).end('ok');
      });
    };
    const gateways = await start(t, upstream.url, count, workers);
    const { id, key } = await gateways[0]!.createKey({ plan: 'sold' });
    await gateways[0]!.admin('POST', `/admin/v1/keys/${id}/credits`, { id: 'all', units: UNITS });
    const beganMs = performance.now();
    const statuses = await sendAll(gateways, key);
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    // The store may have charged what it answered too late to be known.
    const unknown = statuses.get(503) ?? 0;
    t.same([...statuses.keys()].filter((status) => status !== 503).sort(), [200, 402], 'nothing else was answered');
    t.ok(unknown <= REQUESTS / 1_000, 'the store answered', { unknown });
    t.ok(most <= UNITS, 'used and held were never more than there are', { most });
    t.ok(sold > UNITS - HOLD * (1 + unknown), 'all were sold that a request could hold', { sold });
    const admitted = statuses.get(200)!;
    await until('all is settled', async () => (await ledgerOf(gateways[0]!)).net <= sold + HOLD * unknown);
    const { requests, net } = await ledgerOf(gateways.at(-1)!);
    t.ok(requests >= admitted && requests <= admitted + unknown, 'the ledger has each request', { requests, admitted });
    t.ok(net >= sold && net <= sold + HOLD * unknown, 'and each unit', { net, sold });
    t.comment(JSON.stringify({ ...Object.fromEntries(statuses), sold, oversold: Math.max(0, most - UNITS), seconds }));
  });
