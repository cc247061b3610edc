import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { DAY_MS, dayOf } from '../../../src/shared/utc-day.js';
import { petgate, surroundings } from '../../cli/programs.js';
import { openClient } from '../../e2e/client.js';
import { examplesOf } from '../../e2e/guides/examples.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../servers/gateway.js';
import { startPostgres } from '../../servers/postgres.js';
import { NO_BAN } from '../../servers/plans.js';
import { temporaryFolder } from '../../servers/program.js';
import { redisFor, type RedisServer, startRedis, startSentinel } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { learnt } from '../copies.js';
import { away, back, figure } from '../fleet.js';

t.setTimeout(600_000);
const PLANS = {
  narrow: { limits: { minute: 1_000_000, day: 200 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN },
};
const run = promisify(execFile);

/** The commands of a section's code block, so that the guide and what is tried can't differ. */
function commandsOf(guide: string, heading: string): readonly string[] {
  const page = readFileSync(join(packageRoot, 'docs/guides', `${guide}.md`), 'utf8');
  const section = page.split(/^#+ (?=[A-Z])/m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const commands = examplesOf(section).map(({ command }) => command);
  if (commands.length === 0) throw new Error(`${guide}.md has no commands below "${heading}"`);
  return commands;
}

/** Runs a command of a guide as an operator would, with the names that stand for hosts replaced. */
async function follow(command: string, folder: string, hosts: Readonly<Record<string, Gateway>>): Promise<void> {
  const [program = '', ...words] = command.replace(/\s+#.*$/, '').split(' ');
  if (program !== 'petgate') throw new Error(`not a command of ours: ${command}`);
  const args = words.map((word) => hosts[/^http:\/\/(\w+):9090$/.exec(word)?.[1] ?? '']?.adminUrl ?? word);
  const there = args.includes('--admin-url') ? args : ['--admin-url', Object.values(hosts)[0]!.adminUrl, ...args];
  const env = surroundings(folder, { PETGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  const { code, stdout, stderr } = await petgate(there, env, '', folder);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stdout}${stderr}`);
}

/** Starts gateways on a Redis. */
async function placeOf(t: Test, archive?: string) {
  const upstream = await startUpstream(t);
  return (url: string): Promise<Gateway> =>
    startGateway(t, {
      plans: PLANS,
      config: { upstreams: { pets: { addresses: [upstream.url] } } },
      environment: { REDIS_URL: url, ...(archive === undefined ? {} : { LEDGER_URL: archive }) },
    });
}

/** So many requests, all of which are admitted. */
async function ask(t: Test, { url }: Gateway, key: string, times: number): Promise<void> {
  const client = openClient(t, url, 1);
  for (let n = 0; n < times; n += 1) {
    const { status } = await client.send(key);
    if (status !== 200) throw new Error(`request ${n + 1} got ${status}`);
  }
}

/** Requests of a key on each day, as a bill has them. */
async function billOf({ admin }: Gateway, key: string): Promise<Readonly<Record<string, number>>> {
  const [from, to] = [dayOf(Date.now() - 60 * DAY_MS), dayOf(Date.now())];
  const { status, body } = await admin('GET', `/admin/v1/usage?from=${from}&to=${to}&by=day&key=${key}`);
  if (status !== 200) throw new Error(`no bill: ${status} ${JSON.stringify(body)}`);
  const { rows } = body as { rows: readonly { day: string; requests: number }[] };
  return Object.fromEntries(rows.map(({ day, requests }) => [day, requests]));
}

/** Counts of a day that is long over. */
async function countOn({ url }: RedisServer, key: string, day: string, requests: number): Promise<void> {
  const engine = openRedisEngine({ url, deadlineMs: 5_000, plans: new Map(), usageDays: 400 });
  const row = { key, plan: 'narrow', operation: 'listPets', day, requests, units: requests };
  const rows = [{ ...row, returned: 0, limited: 0, banned: 0, failed: 0 }];
  try {
    await engine.fleet.take(randomBytes(6).toString('hex'), { keyId: key, rows });
  } finally {
    await engine.close();
  }
}

t.test('"Back up, restore, move", word for word: the bill is the same in the new Redis', async (t) => {
  const [postgres, first, second] = await Promise.all([startPostgres(), startRedis(), startRedis()]);
  t.teardown(() => Promise.all([postgres.stop(), first.stop(), second.stop()]));
  const start = await placeOf(t, await postgres.createDatabase('ledger'));
  const folder = temporaryFolder(t);
  const old = await start(first.url);
  // Names the store that the archive belongs to.
  await follow('petgate usage archive move', folder, { old });
  const { id, key } = await old.createKey({ plan: 'narrow' });
  const [past, today] = [dayOf(Date.now() - 50 * DAY_MS), dayOf(Date.now())];
  await countOn(first, id, past, 300);
  await ask(t, old, key, 100);
  for (const command of commandsOf('back-up-restore-move', 'Back up, restore, move'))
    await follow(command, folder, { old });
  t.same(await billOf(old, id), { [past]: 300, [today]: 100 }, 'a backup that comes back to its store changes nothing');

  const fresh = await start(second.url);
  await follow('petgate store accept', folder, { fresh });
  const [exported = '', imported = '', ...again] = commandsOf('back-up-restore-move', 'Move');
  for (const command of [exported, imported]) await follow(command, folder, { old, new: fresh });
  await follow('petgate usage archive move', folder, { old });
  await countOn(first, id, past, 5);
  await ask(t, old, key, 7);
  for (const command of again) await follow(command, folder, { old, new: fresh });
  t.same(await billOf(fresh, id), { [past]: 305, [today]: 107 });
  await follow('petgate usage archive move', folder, { fresh });
  t.same(await billOf(fresh, id), { [past]: 305, [today]: 107 }, 'and after the next move');
});

t.test('"An incident: Redis dies", word for word: nothing that was admitted is lost or over the limit', async (t) => {
  const redis = await redisFor(t);
  const start = await placeOf(t);
  const folder = temporaryFolder(t);
  const gateway = await start(redis.url);
  const { id, key } = await gateway.createKey({ plan: 'narrow' });
  await ask(t, gateway, key, 100);
  await learnt(gateway, [id]);
  await follow(commandsOf('back-up-restore-move', 'Back up, restore, move')[0]!, folder, { gateway });
  await redis.kill();
  await away(gateway);
  await ask(t, gateway, key, 60);
  await redis.restart();
  await until('Redis is not trusted', async () => (await figure(gateway, 'petgate_store_replaced')) === 1);
  await ask(t, gateway, key, 10);
  for (const command of commandsOf('redis-incident', 'What to do')) {
    await follow(command, folder, { gateway });
    await back(gateway);
  }
  t.same(await billOf(gateway, id), { [dayOf(Date.now())]: 170 });
  await ask(t, gateway, key, 30);
  t.equal((await openClient(t, gateway.url, 1).send(key)).status, 429, '200 a day');
});

t.test('"A planned failover", word for word: the ledger has all that was admitted', async (t) => {
  const sentinel = await startSentinel({ downAfterMs: 30_000 });
  t.teardown(() => sentinel.stop());
  const start = await placeOf(t);
  const gateway = await start(sentinel.url);
  const { id, key } = await gateway.createKey({ plan: 'narrow' });
  await ask(t, gateway, key, 20);
  await learnt(gateway, [id]);
  const master = await sentinel.master();
  const [pause = '', info = '', failover = ''] = commandsOf('stores-and-outages', 'A planned failover');
  const onMaster = async (command: string): Promise<string> =>
    (await run('redis-cli', ['-p', master.port.toString(), ...command.split(' ').slice(1)])).stdout;
  t.match(await onMaster(pause), 'OK');
  await until('the replica has all', async () => {
    const text = await onMaster(info);
    return text.includes(`offset=${/^master_repl_offset:(\d+)/m.exec(text)?.[1]},`);
  });
  await away(gateway);
  await ask(t, gateway, key, 20);
  const [, , port, ...words] = failover
    .replace('26379', new URL(sentinel.url.replace('redis+sentinel', 'http')).port)
    .split(' ');
  const asked = words.map((word) => (word === '<name>' ? 'petgate' : word));
  t.match((await run('redis-cli', ['-p', port!, ...asked])).stdout, 'OK');
  await until('another one is master', async () => (await sentinel.master()) !== master);
  await back(gateway);
  await ask(t, gateway, key, 20);
  t.same(await billOf(gateway, id), { [dayOf(Date.now())]: 60 });
});
