import t from 'tap';
import type { Test } from 'tap';
import type { Subject } from '../../../../../src/gateway/admission/port.js';
import type { RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { ask, askMany, count, newKey, NOON_MS, requestOf, standing } from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';
import { windowOf } from '../../../admission/verdict.js';
import type { RedisServer } from '../../../../servers/redis.js';
import { until } from '../../../../servers/until.js';
import { endRow, groupOf } from '../address-rows.js';

const GROUPS = 4_096;
/** Addresses of a group that are remembered each by itself. */
const ROWS = 64;
/** Where those beyond are. */
const SHARED = '~';
/** What the plan of addresses gives in a minute. */
const LIMIT = 5;

async function setUp(t: Test): Promise<{ server: RedisServer; engine: RedisEngine }> {
  const { redis: server, engine } = await redisEngineFor(t);
  await engine.check();
  return { server, engine };
}

const subject = (address: string): Subject => ({ kind: 'address', address });

/** So many addresses of one group, as who has a /40 can find them. */
function ofOneGroup(many: number): readonly string[] {
  const found: string[] = [];
  const group = groupOf('2001:db8:0:0');
  for (let n = 0; found.length < many; n += 1) {
    const address = `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`;
    if (groupOf(address) === group) found.push(address);
  }
  return found;
}

async function fill(engine: RedisEngine, addresses: readonly string[]): Promise<void> {
  await engine.admit(addresses.map((address) => requestOf(subject(address), NOON_MS)));
}

t.test('addresses have a bound in number: those beyond it share what one has, and nobody else pays', async (t) => {
  const { server, engine } = await setUp(t);
  const addresses = ofOneGroup(ROWS + 20);
  const [known, strangers] = [addresses.slice(0, ROWS), addresses.slice(ROWS)];
  await fill(engine, addresses);
  const rows = (): Promise<unknown> => server.command('HLEN', groupOf(known[0]!));
  t.equal(await rows(), ROWS + 1, 'all of one batch');

  const alone = await askMany(engine, subject(known[3]!), LIMIT, NOON_MS);
  t.equal(count(alone, 'admitted'), LIMIT - 1, 'whoever was there first has its own');
  const [one, another] = [strangers[0]!, strangers[1]!];
  const verdicts = await askMany(engine, subject(one), 2, NOON_MS);
  t.equal(count(verdicts, 'admitted'), 0, 'the twenty strangers of before have taken all');
  t.not((await ask(engine, subject(another), NOON_MS)).outcome, 'admitted', 'of all strangers');
  const key = await newKey(engine, 'free');
  t.equal(windowOf(standing(await ask(engine, key, NOON_MS)), 'minute').remaining, 59, 'a key has what it has');
  t.equal(await rows(), ROWS + 1);
});

t.test('strangers of one batch, asking in turns, never get more than one has', async (t) => {
  const { engine } = await setUp(t);
  const addresses = ofOneGroup(ROWS + 4);
  await fill(engine, addresses.slice(0, ROWS));
  const strangers = addresses.slice(ROWS);
  const requests = Array.from({ length: 3 }, () => strangers.map((each) => requestOf(subject(each), NOON_MS))).flat();
  t.equal(count(await engine.admit(requests), 'admitted'), LIMIT);
});

t.test('an address has its own row again once there is room, and what it shared is over', async (t) => {
  const { server, engine } = await setUp(t);
  const addresses = ofOneGroup(ROWS + 1);
  const stranger = addresses[ROWS]!;
  await fill(engine, addresses);
  await askMany(engine, subject(stranger), 2, NOON_MS);
  await endRow(server, addresses[0]!);
  const sharing = standing(await ask(engine, subject(stranger), NOON_MS));
  t.equal(
    windowOf(sharing, 'minute').remaining,
    LIMIT - 4,
    'what it spent is not forgotten for a place that became free',
  );
  await endRow(server, stranger, SHARED);
  await ask(engine, subject(stranger), NOON_MS);
  const fields = (await server.command('HKEYS', groupOf(stranger))) as string[];
  t.ok(fields.includes(stranger), 'its own row');
  t.notOk(fields.includes(addresses[0]!), 'in the place of one that was over');
  t.notOk(fields.includes(SHARED), 'nothing is shared any more');
});

t.test('strangers who share a row are banned together, and free together once one of them is', async (t) => {
  const { engine } = await setUp(t);
  const addresses = ofOneGroup(ROWS + 2);
  await fill(engine, addresses);
  const [one, other] = [addresses[ROWS]!, addresses[ROWS + 1]!];
  await askMany(engine, subject(one), 2 * LIMIT + 10, NOON_MS);
  for (const each of [one, other]) t.equal((await ask(engine, subject(each), NOON_MS)).outcome, 'banned');
  await until('it is listed', async () => (await engine.bans.addresses(null, 10)).bans.length === 1);
  t.equal(await engine.bans.liftAddress(other), true);
  for (const each of [one, other]) t.equal((await ask(engine, subject(each), NOON_MS)).outcome, 'limited');
  t.same((await engine.bans.addresses(null, 10)).bans, []);
});

t.test('the groups fill evenly: who asks from many neighbours makes none of them full early', (t) => {
  for (const addressOf of [
    (n: number) => `2001:db8:${(n >> 16).toString(16)}:${(n & 0xffff).toString(16)}`,
    (n: number) => `198.${51 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
  ]) {
    const sizes = new Map<string, number>();
    for (let n = 0; n < 100_000; n += 1) sizes.set(groupOf(addressOf(n)), (sizes.get(groupOf(addressOf(n))) ?? 0) + 1);
    t.equal(sizes.size, GROUPS);
    t.ok(Math.max(...sizes.values()) <= ROWS, `a hundred thousand of ${addressOf(0)}`, {
      most: Math.max(...sizes.values()),
    });
  }
  t.end();
});
