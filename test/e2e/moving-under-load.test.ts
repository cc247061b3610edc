import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import type { Test } from 'tap';
import { MINUTE_MS } from '../../src/gateway/admission/bucket.js';
import { DAY_MS, dayOf } from '../../src/shared/utc-day.js';
import { ADMIN_TOKEN, startGateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { redisFor } from '../servers/redis.js';
import { startUpstream } from '../servers/upstream.js';
import { petgate, surroundings } from '../cli/programs.js';
import { startLoad } from '../faults/load.js';
import { openClient } from './client.js';

const KEYS = 3;
const EXPORTS = 3;
const LIMITS = { minute: 10_000_000, day: 20_000_000 };
const PLANS = { roomy: { limits: LIMITS, ban: NO_BAN }, anonymous: { limits: LIMITS, ban: NO_BAN } };

interface KeyLine {
  readonly record: { readonly id: string };
  readonly state: { readonly day: { readonly level: number } };
  readonly usage: readonly { readonly day: string; readonly requests: number }[];
}

async function openPlace(t: Test, environment: Readonly<Record<string, string>>) {
  const upstream = await startUpstream(t);
  const dataFolder = temporaryFolder(t);
  const config = { upstreams: { pets: { addresses: [upstream.url] } } };
  const gateway = await startGateway(t, { config, environment, dataFolder, plans: PLANS });
  const env = surroundings(dataFolder, { PETGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  const run = (...args: readonly string[]) => petgate(['--admin-url', gateway.adminUrl, ...args], env);
  const exported = async () => {
    const { code, stdout, stderr } = await run('store', 'export');
    if (code !== 0) throw new Error(stderr);
    const lines = stdout.split('\n').filter((line) => line.startsWith('{"kind":"key"'));
    return { text: stdout, keys: lines.map((line) => JSON.parse(line) as KeyLine) };
  };
  return { gateway, run, exported };
}

/** What a line says that was spent of the day, and what it says was counted that day. */
function figuresOf({ state, usage }: KeyLine): { readonly spent: number; readonly counted: number } {
  const today = dayOf(Date.now());
  const counted = usage.filter(({ day }) => day === today).reduce((sum, { requests }) => sum + requests, 0);
  return { spent: state.day.level / DAY_MS, counted };
}

async function moveUnderLoad(
  t: Test,
  from: Readonly<Record<string, string>>,
  to: Readonly<Record<string, string>>,
): Promise<void> {
  // Days that begin meanwhile would take back what was spent.
  if (DAY_MS - (Date.now() % DAY_MS) < 2 * MINUTE_MS) return;
  const [old, other] = await Promise.all([openPlace(t, from), openPlace(t, to)]);
  const keys = await Promise.all(Array.from({ length: KEYS }, () => old.gateway.createKey({ plan: 'roomy' })));
  const clients = [openClient(t, old.gateway.url, 2)];
  const loads = keys.map(({ key }) => startLoad(t, clients, key, 1));
  const file = join(temporaryFolder(t), 'moved.jsonl');
  const takeOver = async (): Promise<readonly KeyLine[]> => {
    const { text, keys: lines } = await old.exported();
    writeFileSync(file, text);
    t.match(await other.run('store', 'import', file), { code: 0 });
    return lines;
  };
  for (let n = 0; n < EXPORTS; n += 1) {
    for (const line of await takeOver()) {
      const { spent, counted } = figuresOf(line);
      if (spent !== counted) t.fail(`${line.record.id}: ${spent} spent and ${counted} counted`);
    }
  }
  await Promise.all(loads.map((load) => load.stop()));
  await takeOver();
  const there = new Map((await other.exported()).keys.map((line) => [line.record.id, figuresOf(line)]));
  for (const [n, { id }] of keys.entries()) {
    const answered = loads[n]!.count('200');
    t.ok(answered > EXPORTS, `${answered} answers of key ${n}`);
    t.same(there.get(id), { spent: answered, counted: answered }, 'after the last export nothing is missing');
  }
}

t.test('exported under load each key is of one moment, and a last export adds the difference', async (t) => {
  const redis = await redisFor(t);
  await t.test('embedded to Redis', (t) => moveUnderLoad(t, {}, { REDIS_URL: redis.url }));
  const second = await redisFor(t);
  await t.test('Redis to embedded', (t) => moveUnderLoad(t, { REDIS_URL: second.url }, {}));
});
