import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import type { Test } from 'tap';
import type { EventType, GatewayEvent, Outbox, OutboxEntry } from '../../../src/gateway/store/outbox/event.js';
import { Deliverer } from '../../../src/gateway/events/deliverer.js';
import type { Outcome } from '../../../src/gateway/events/send.js';
import type { KeyRegistry } from '../../../src/gateway/accounts/keys/registry.js';
import { until } from '../../servers/until.js';
import { openRegistry, openStore } from '../accounts/store.js';

interface Delivery {
  readonly registry: KeyRegistry;
  readonly outbox: Outbox;
  readonly deliverer: Deliverer;
  /** Ids as they were sent. */
  readonly sent: string[];
  readonly counted: string[];
  readonly pauses: number[];
  readonly logged: () => string;
}

const HOUR_MS = 3_600_000;

/** A real store; only the receiver is made up, and pauses are noted instead of waited for. */
function begin(t: Test, answer: (event: GatewayEvent) => Outcome | Promise<Outcome>): Delivery {
  const { engine } = openStore(t);
  const [sent, counted, pauses]: [string[], string[], number[]] = [[], [], []];
  let logged = '';
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      logged += chunk.toString();
      done();
    },
  });
  const { outbox } = engine;
  const deliverer = new Deliverer({
    outbox: {
      ...outbox,
      postpone: (entry: OutboxEntry, pauseMs) => (pauses.push(pauseMs), outbox.postpone(entry, 0)),
    },
    send: (event) => {
      sent.push(event.id);
      return Promise.resolve(answer(event));
    },
    close: () => Promise.resolve(),
    timeoutMs: 20_000,
    retryMs: 5_000,
    everyMs: 10,
    attempted: (type: EventType, outcome) => counted.push(`${type} ${outcome}`),
    log: pino({ level: 'trace' }, sink),
    random: () => 0.5,
  });
  t.teardown(() => deliverer.stop());
  return {
    registry: openRegistry(engine, { emitsEvents: true }),
    outbox,
    deliverer,
    sent,
    counted,
    pauses,
    logged: () => logged,
  };
}

t.test('created, changed, rotated and revoked are told, each once; what changes nothing is not', async (t) => {
  const told: GatewayEvent[] = [];
  const { registry, sent, counted, outbox } = begin(t, (event) => (told.push(event), { kind: 'delivered' }));
  const { record } = await registry.create({ plan: 'free', name: 'Zoë' });
  await until('the first is told', () => told.length === 1);
  const { id } = record;
  const { plan } = await registry.change(id, { plan: 'pro', note: 'of Zoë' });
  t.equal(plan, 'pro');
  await registry.change(id, { plan: 'pro' });
  await registry.rotate(id, 0);
  await registry.revoke(id);
  await registry.revoke(id);
  await until('all are told', async () => (await outbox.figures()).waiting === 0 && told.length === 4);
  const byType = told.map(({ type, data }) => ({ type, ...data }));
  const key = { customer: null, key: id };
  t.strictSame(byType[0], { type: 'petgate.key.created', ...key, plan: 'free' });
  t.same(
    new Set(byType.slice(1).map(({ type, changed = [] }) => `${type} ${changed.join()}`)),
    new Set(['petgate.key.changed plan,note', 'petgate.key.changed secrets', 'petgate.key.revoked ']),
  );
  t.notMatch(JSON.stringify(told), /Zoë|hash/);
  t.equal(new Set(sent).size, 4);
  t.ok(sent.every((each) => /^[0-9A-Za-z]{12}-[0-9A-Za-z]{12}$/.test(each) && each.startsWith(id)));
  t.same(new Set(counted), new Set(told.map(({ type }) => `${type} delivered`)));
});

t.test('a key that ends is notified of a week before, and again when its end is another', async (t) => {
  const { registry, outbox, sent } = begin(t, () => ({ kind: 'delivered' }));
  const inDays = (days: number): string => new Date(Date.now() + days * 24 * HOUR_MS).toISOString();
  const expiring = async (state: 'waiting' | 'scheduled'): Promise<readonly string[]> =>
    (await outbox.list(state, null, 99)).entries.flatMap(({ event }) =>
      event.data.ends === undefined ? [] : event.id,
    );
  const { record } = await registry.create({ plan: 'free', name: 'x', expires: inDays(30) });
  const [first = ''] = await expiring('scheduled');
  t.equal(first, `${record.id}-expiring-${record.expiresAtMs}`);
  const { event } = (await outbox.read(first))!;
  t.same(event, {
    id: first,
    type: 'petgate.key.expiring',
    atMs: record.expiresAtMs! - 7 * 24 * HOUR_MS,
    data: { customer: null, key: record.id, ends: new Date(record.expiresAtMs!).toISOString() },
  });
  await registry.change(record.id, { note: 'the end stays' });
  t.same(await expiring('scheduled'), [first]);
  await registry.rotate(record.id, HOUR_MS);
  t.same(await expiring('scheduled'), [first], 'the end of an old secret is none of the key');
  await registry.change(record.id, { expires: inDays(40) });
  const [second = ''] = await expiring('scheduled');
  t.not(second, first);
  t.equal(await outbox.read(first), undefined);
  const { expiresAtMs } = await registry.change(record.id, { expires: inDays(5) });
  await until('it is told at once', () => sent.includes(`${record.id}-expiring-${expiresAtMs}`));
  await registry.change(record.id, { expires: inDays(50) });
  t.equal((await expiring('scheduled')).length, 1);
  await registry.revoke(record.id);
  t.same(await expiring('scheduled'), []);
  t.notOk(sent.includes(first));
});

t.test('pauses double from the first to 24 hours, then the event is dead, and may be sent again', async (t) => {
  let isUnavailable = true;
  const reason = 'it answered 500';
  const { registry, outbox, sent, counted, pauses, logged } = begin(t, () =>
    isUnavailable ? { kind: 'failed', reason } : { kind: 'delivered' },
  );
  await registry.create({ plan: 'free', name: 'x' });
  await until('it is dead', async () => (await outbox.figures()).dead === 1);
  t.same(pauses, [...Array.from({ length: 15 }, (_, n) => 5_000 * 2 ** n), 24 * HOUR_MS]);
  t.equal(new Set(sent).size, 1, 'under one id');
  const [id = ''] = sent;
  t.match(await outbox.read(id), { attempts: 17, failure: reason, dueAtMs: null, deadAtMs: Number });
  t.equal(counted.filter((each) => each.endsWith('failed')).length, 17);
  t.match(logged(), '"msg":"an event could not be delivered and is a dead letter"');
  isUnavailable = false;
  await outbox.redeliver(id);
  await until('it is delivered', () => counted.includes('petgate.key.created delivered'));
  t.equal(new Set(sent).size, 1);
});

t.test('after 410 nothing more is sent, and nothing is lost', async (t) => {
  const { registry, outbox, sent, logged } = begin(t, () => ({ kind: 'gone' }));
  await registry.create({ plan: 'free', name: 'x' });
  await until('it was told to stop', () => logged().includes('410 Gone'));
  await until('it is kept', async () => (await outbox.list('waiting', null, 9)).entries[0]?.failure !== null);
  const { length } = sent;
  await registry.create({ plan: 'free', name: 'y' });
  t.match(await outbox.figures(), { waiting: 2, dead: 0 });
  t.equal(sent.length, length);
  t.match((await outbox.read(sent[0]!))?.failure, 'it answered 410: sending has stopped');
});

t.test('without events nothing is written', async (t) => {
  const { engine } = openStore(t);
  const registry = openRegistry(engine);
  const { record } = await registry.create({ plan: 'free', name: 'x' });
  await registry.revoke(record.id);
  t.same(await engine.outbox.figures(), { waiting: 0, dead: 0, oldestMs: 0 });
});
