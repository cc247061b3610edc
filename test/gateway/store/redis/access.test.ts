import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import {
  ask,
  askMany,
  change,
  changeCustomer,
  dayName,
  freshId,
  keyOf,
  liftBan,
  newCustomer,
  newKey,
  NOON_MS,
  PLANS,
  rowsOf,
  startBan,
} from '../../../conformance/cast.js';
import { openRedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { packageRoot } from '../../../../src/shared/package-root.js';
import { outbox } from '../../../conformance/outbox.js';
import { told } from '../../../conformance/told.js';
import { noCounts } from '../../../../src/gateway/store/records/counts.js';
import { startRedis } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { createReporter } from '../../../../src/gateway/store/settlements.js';

const reportsOf = createReporter();

/** The rights that the documentation asks for. */
const RIGHTS =
  '~petgate:* +eval +evalsha +time +get +set +del +unlink +exists +hexists +hget +hmget +hset +hdel +hgetall ' +
  '+hlen +hincrby +expire +pexpire +persist +ttl +pttl +rpush +lrange +zadd +zrem +zremrangebyscore +zcard +zcount ' +
  '+zrange +zrangebylex +zrangebyscore +hello +client +info +wait +quit';

t.test('a Redis user with these rights and no others is enough for everything', async (t: Test) => {
  t.ok(
    readFileSync(join(packageRoot, 'docs/guides/stores-and-outages.md'), 'utf8').includes(`\`${RIGHTS}\``),
    'the guide names just these',
  );
  const server = await startRedis({ config: [`user petgate on >s3cret ${RIGHTS}`, 'user default off'] });
  const engine = openRedisEngine({
    url: server.url.replace('//', '//petgate:s3cret@'),
    deadlineMs: 10_000,
    plans: PLANS,
    usageDays: 400,
    events: true,
  });
  t.teardown(async () => {
    await engine.close();
    await server.stop();
  });
  await engine.check();
  const key = await newKey(engine, 'free');
  t.equal((await ask(engine, key, NOON_MS)).outcome, 'admitted');
  await engine.settle(
    reportsOf([{ keyId: key.id, plan: 'free', operation: 'listPets', admittedAtMs: NOON_MS, isFailed: true }]),
  );
  t.match(await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS)), [{ requests: 1, failed: 1 }]);
  await startBan(engine, key, NOON_MS);
  t.equal((await engine.bans.read(key.id))?.untilMs, NOON_MS);
  t.equal(await liftBan(engine, key), true);
  t.equal((await engine.keys.page(null, 10)).length, 1);
  for await (const rows of engine.transfer.rowsBefore(dayName(NOON_MS))) await engine.transfer.raise(rows);
  const [snapshot] = await engine.keys.snapshots(null, 10, dayName(Date.now()));
  t.same(await engine.keys.restore([{ ...snapshot!, record: { ...snapshot!.record, id: freshId() } }]), ['added']);
  const customer = await newCustomer(engine, 'monthly');
  const own = await keyOf(engine, customer.id);
  t.equal((await ask(engine, own, NOON_MS)).outcome, 'admitted');
  t.equal(await engine.customers.keyCount(customer.id), 1);
  t.equal((await engine.customers.page(null, 10)).length, 1);
  t.equal((await engine.customers.history(customer.id)).length, 1);
  t.equal((await engine.keys.history(key.id)).length, 3);
  await change(engine, key, { note: 'changed' });
  t.match(await engine.fleet.changedSince(0), { ids: [key.id] });
  await changeCustomer(engine, customer, { note: 'changed' });
  t.equal(await engine.fleet.beat('gateway'), 1);
  await engine.fleet.report({ gateway: 'gateway', openDay: 20_000, running: null });
  t.equal(await engine.days.giveUp('gateway'), true);
  t.match(await engine.days.finality(Date.now()), { without: [{ gateway: 'gateway' }] });
  await engine.fleet.notes('gateway').write('figures', 'a note', 60_000);
  t.strictSame([...(await engine.fleet.notes('another').read('figures'))], [['gateway', 'a note']]);
  await engine.fleet.leave('gateway');
  t.equal(await engine.days.giveUp('gateway'), false);
  await engine.fleet.take('spool', {
    keyId: key.id,
    rows: [
      {
        ...{ key: key.id, plan: 'free', operation: 'listPets', day: dayName(Date.now()) },
        ...{ ...noCounts(), requests: 3, units: 3 },
      },
    ],
  });
  await engine.fleet.takeBan(key.id, { atMs: Date.now(), action: 'banned', changed: { until: 'then', level: 1 } });
  const address = { kind: 'address', address: '192.0.2.7' } as const;
  await askMany(engine, address, 20, NOON_MS);
  await until('it is listed', async () => (await engine.bans.addresses(null, 10)).bans.length === 1);
  t.equal(await engine.bans.liftAddress(address.address), true);
  const token = { id: 'abcdefghijkl', name: 'x', role: 'read', hash: 'x', createdAtMs: 0, createdBy: 'x' } as const;
  await engine.tokens.add({ ...token, expiresAtMs: null });
  t.match(await engine.tokens.read(token.id), token);
  t.match(await engine.tokens.list(), [token]);
  t.equal(await engine.tokens.remove(token.id), true);
  await t.test('events too', (t) => {
    outbox(t, engine);
    told(t, engine);
    t.end();
  });
});
