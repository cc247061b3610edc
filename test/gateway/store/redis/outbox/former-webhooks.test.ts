import { Readable } from 'node:stream';
import t from 'tap';
import { exportStore } from '../../../../../src/gateway/accounts/transfer/store-export.js';
import { importStore } from '../../../../../src/gateway/accounts/transfer/store-import.js';
import { readLines, STORED_LINE_BYTES } from '../../../../../src/gateway/actions/input/lines.js';
import { customerName, eventsName } from '../../../../../src/gateway/store/redis/keyspace/names.js';
import { keyOf, newCustomer } from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';

const WEBHOOK = { url: 'https://hooks.example/x', secrets: [{ secret: 'whsec_x', endsAtMs: null }] };

t.test("customers' own webhooks, which 0.3 had, do no harm and are forgotten", async (t) => {
  const { redis: server, engine } = await redisEngineFor(t, { events: true });
  await engine.check();
  const customer = await newCustomer(engine, 'free');
  const { id: key } = await keyOf(engine, customer.id);
  const [waiting, dead] = [`${key}-1-to-customer`, `${key}-2-to-customer`];
  const entryOf = (id: string): string => {
    const event = { id, type: 'petgate.key.created', atMs: 1, data: { customer: customer.id, key }, to: customer.id };
    return JSON.stringify({ event, attempts: 1, failure: 'it answered 500', dueAtMs: 1, deadAtMs: null });
  };
  await server.command('HSET', customerName(customer.id), 'webhook', JSON.stringify(WEBHOOK));
  await server.command('HSET', eventsName(key), waiting, entryOf(waiting), dead, entryOf(dead));
  await server.command('ZADD', 'petgate:{events}:copies', '1', waiting);
  await server.command('ZADD', `petgate:{events}:to:${customer.id}`, '1', waiting);
  await server.command('ZADD', 'petgate:{events}:customers', '1', customer.id);
  await server.command('ZADD', 'petgate:{events}:dead', '1', dead);

  t.same((await engine.outbox.list('dead', null, 9)).entries, []);
  t.equal(await engine.outbox.redeliver(dead), undefined);
  t.same(await engine.outbox.claim(9, 60_000), []);
  await engine.outbox.collect(60_000, true);
  await engine.outbox.forgetDead(0);
  t.same(await server.command('KEYS', 'petgate:{events}:[ct]*'), ['petgate:{events}:collecting']);
  t.equal(await server.command('EXISTS', eventsName(key)), 0);

  const lines: string[] = [];
  for await (const line of exportStore(engine, Date.now())) lines.push(line);
  t.notMatch(lines.join(''), 'whsec_');
  const former = lines.join('').replace('"kind":"customer"', `$&,"webhook":${JSON.stringify(WEBHOOK)}`);
  await importStore(engine, readLines(Readable.from([Buffer.from(former)]), STORED_LINE_BYTES));
  await engine.customers.rewrite({ ...customer, version: 2 }, [
    ...(await engine.customers.history(customer.id)),
    {
      ...{ atMs: 1, action: 'erased', changed: {} },
    },
  ]);
  t.equal(await server.command('HGET', customerName(customer.id), 'webhook'), '');
});
