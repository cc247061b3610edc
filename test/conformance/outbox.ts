import type { Test } from 'tap';
import type { EventType, GatewayEvent, OutboxChange } from '../../src/gateway/store/outbox/event.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { until } from '../servers/until.js';
import { keyRecord } from '../gateway/admission/key-record.js';
import { freshId } from './cast.js';

const LEASE_MS = 60_000;
const MOST = 1_000;
let made = 0;

function eventFor(key: string, type: EventType = 'petgate.key.created'): GatewayEvent {
  made += 1;
  return { id: `${key}-${freshId()}`, type, atMs: 1_000_000 + made, data: { customer: null, key, plan: 'free' } };
}

const only = (event: GatewayEvent): OutboxChange => ({ emit: [event], withdraw: [] });

/** A new key that is notified of. */
async function tell(engine: AdmissionEngine): Promise<GatewayEvent> {
  const id = freshId();
  const event = eventFor(id);
  await engine.keys.write(keyRecord(id), { atMs: event.atMs, action: 'created', changed: {} }, only(event));
  return event;
}

const fresh = (event: GatewayEvent) => ({ event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null });

/** Events from the step that writes them until they are delivered. */
export function outbox(t: Test, engine: AdmissionEngine): void {
  const events = engine.outbox;
  /** Claims until `count` entries are there: an event is due in a moment, when nobody waits for it. */
  const claim = async (count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    await until('they are due', async () => {
      ids.push(...(await events.claim(count - ids.length, LEASE_MS)).map(({ event }) => event.id));
      return ids.length === count;
    });
    return ids.sort();
  };

  t.test('what stories before left waiting can be delivered', async (t) => {
    for (const { event } of (await events.list('waiting', null, MOST)).entries) await events.delivered(event.id);
    t.match(await events.figures(), { waiting: 0 });
  });

  t.test('an event is there with its key, is claimed once, and gone when it is delivered', async (t) => {
    const told = await tell(engine);
    t.same(await events.read(told.id), fresh(told));
    t.same(await claim(1), [told.id]);
    t.same(await events.claim(MOST, LEASE_MS), [], 'leased');
    t.same((await events.list('waiting', null, MOST)).entries, [fresh(told)]);
    t.match(await events.figures(), { waiting: 1, dead: 0 });
    t.ok((await events.figures()).oldestMs > 1_000_000);
    await events.delivered(told.id);
    t.equal(await events.read(told.id), undefined);
    t.same(await events.figures(), { waiting: 0, dead: 0, oldestMs: 0 });
    await events.delivered(told.id);
  });

  t.test('a change that loses tells of nothing, and a key without an event neither', async (t) => {
    const id = freshId();
    await engine.keys.write(keyRecord(id), { atMs: 1, action: 'created', changed: {} });
    const event = eventFor(id);
    await t.rejects(engine.keys.write(keyRecord(id), { atMs: 1, action: 'created', changed: {} }, only(event)), {
      name: 'VersionConflict',
    });
    t.equal(await events.read(event.id), undefined);
    t.same(await events.claim(MOST, LEASE_MS), []);
  });

  t.test('a lease that ran out gives the event to the next', async (t) => {
    const told = await tell(engine);
    await until('it is claimed', async () => (await events.claim(1, 1)).length === 1);
    t.same(await claim(1), [told.id]);
    await events.delivered(told.id);
  });

  t.test('a failed attempt is remembered, and the event due again after the pause', async (t) => {
    const told = await tell(engine);
    await claim(1);
    const failed = { ...fresh(told), attempts: 1, failure: 'it answered 500' };
    await events.postpone(failed, LEASE_MS);
    const { dueAtMs, ...kept } = (await events.read(told.id))!;
    t.same(kept, { event: told, attempts: 1, failure: 'it answered 500', deadAtMs: null });
    t.ok(Math.abs(dueAtMs! - Date.now() - LEASE_MS) < 30_000, 'about then');
    t.same(await events.claim(MOST, LEASE_MS), []);
    await events.postpone(failed, 0);
    t.same(await claim(1), [told.id]);
    await events.delivered(told.id);
    await events.postpone(failed, 0);
    t.equal(await events.read(told.id), undefined, 'what was delivered does not come back');
    t.same(await events.claim(MOST, LEASE_MS), []);
  });

  t.test('a dead event is listed apart, until it is delivered again or forgotten', async (t) => {
    const [first, second] = [await tell(engine), await tell(engine)];
    await claim(2);
    for (const event of [first, second])
      await events.deadLetter({ ...fresh(event), attempts: 17, failure: 'it answered 500' });
    t.match(await events.figures(), { waiting: 0, dead: 2, oldestMs: 0 });
    const { entries } = await events.list('dead', null, MOST);
    t.same(entries.map(({ event }) => event.id).sort(), [first.id, second.id].sort());
    t.ok(entries.every(({ attempts, deadAtMs }) => attempts === 17 && deadAtMs !== null));
    t.same(await events.claim(MOST, LEASE_MS), []);
    t.same(await events.redeliver(first.id), fresh(first));
    t.same(await claim(1), [first.id]);
    t.match(await events.figures(), { waiting: 1, dead: 1 });
    await events.delivered(first.id);
    t.equal(await events.redeliver(first.id), undefined);
    t.equal(await events.forgetDead(LEASE_MS), true);
    t.match(await events.figures(), { dead: 1 }, 'not dead for so long');
    await events.forgetDead(-LEASE_MS);
    t.same(await events.figures(), { waiting: 0, dead: 0, oldestMs: 0 });
    t.equal(await events.read(second.id), undefined);
  });

  t.test('dead events are forgotten a part at a time, until none is left', async (t) => {
    const told = await Promise.all(Array.from({ length: 150 }, () => tell(engine)));
    await claim(told.length);
    for (const event of told) await events.deadLetter({ ...fresh(event), attempts: 17, failure: 'it answered 500' });
    t.match(await events.figures(), { waiting: 0, dead: told.length });
    let calls = 1;
    while (!(await events.forgetDead(-LEASE_MS))) calls += 1;
    t.ok(calls > 1, 'none holds up anybody for long');
    t.match(await events.figures(), { waiting: 0, dead: 0 });
    t.equal(await events.read(told[0]!.id), undefined);
  });

  t.test('what is still to happen waits apart until then, and may be withdrawn with a change', async (t) => {
    const id = freshId();
    const later = { ...eventFor(id, 'petgate.key.expiring'), id: `${id}-expiring-1`, atMs: Date.now() + LEASE_MS };
    const moved = { ...later, id: `${id}-expiring-2`, atMs: Date.now() + 2_000 };
    const own = async (state: 'waiting' | 'scheduled'): Promise<readonly string[]> =>
      (await events.list(state, null, MOST)).entries.map(({ event }) => event.id).filter((each) => each.startsWith(id));
    await engine.keys.write(keyRecord(id), { atMs: 1, action: 'created', changed: {} }, only(later));
    t.same([await own('waiting'), await own('scheduled')], [[], [later.id]]);
    t.match(await events.figures(), { waiting: 0, oldestMs: 0 });
    t.same(await events.claim(MOST, LEASE_MS), []);
    await engine.keys.write(
      { ...keyRecord(id), version: 2 },
      { atMs: 1, action: 'changed', changed: {} },
      { emit: [moved], withdraw: [later.id] },
    );
    t.equal(await events.read(later.id), undefined);
    t.ok((await own('scheduled')).every((each) => each === moved.id));
    t.same(await claim(1), [moved.id], 'and is due when it happens');
    t.ok(Date.now() >= moved.atMs - 1_000);
    t.same([await own('waiting'), await own('scheduled')], [[moved.id], []]);
    await events.delivered(moved.id);
  });

  t.test('what is still to happen and is delivered on demand happens now, and not once more later', async (t) => {
    const id = freshId();
    const later = { ...eventFor(id, 'petgate.key.expiring'), id: `${id}-expiring-1`, atMs: Date.now() + LEASE_MS };
    await engine.keys.write(keyRecord(id), { atMs: 1, action: 'created', changed: {} }, only(later));
    const scheduled = async () =>
      (await events.list('scheduled', null, MOST)).entries.filter(({ event }) => event.id === later.id);
    t.equal((await scheduled()).length, 1);
    const again = await events.redeliver(later.id);
    t.match(again, { event: { id: later.id, type: later.type, data: later.data }, attempts: 0, deadAtMs: null });
    t.ok(again!.event.atMs < later.atMs);
    t.same(await claim(1), [later.id]);
    t.same((await events.list('waiting', null, MOST)).entries, [again]);
    t.same(await scheduled(), []);
    t.match(await events.figures(), { waiting: 1, dead: 0 });
    await events.delivered(later.id);
    t.equal(await events.read(later.id), undefined);
    t.same(await scheduled(), []);
  });

  t.test('lists come by pages, the oldest first, none twice', async (t) => {
    const told: GatewayEvent[] = [];
    for (let n = 0; n < 25; n += 1) told.push(await tell(engine));
    // Some of the very same moment.
    const key = freshId();
    const twins = [eventFor(key), eventFor(key), eventFor(key)].map((event) => ({ ...event, atMs: 2_000_000 }));
    for (const [n, event] of twins.entries())
      await engine.keys.write(
        { ...keyRecord(key), version: n + 1 },
        { atMs: 1, action: 'changed', changed: {} },
        only(event),
      );
    const seen: string[] = [];
    for (let cursor: string | null = null, more = true; more;) {
      const page = await events.list('waiting', cursor, 2);
      seen.push(...page.entries.map(({ event }) => event.id));
      cursor = page.cursor;
      more = cursor !== null;
    }
    t.same(
      seen.slice(0, 25),
      told.map(({ id }) => id),
    );
    t.same(seen.slice(25), twins.map(({ id }) => id).sort());
    await claim(28);
    for (const id of seen) await events.delivered(id);
  });

  t.test('of several that claim at once each entry goes to one', async (t) => {
    const told = await Promise.all(Array.from({ length: 40 }, () => tell(engine)));
    const ids: string[] = [];
    await until('all are claimed', async () => {
      const claims = await Promise.all(Array.from({ length: 8 }, () => events.claim(3, LEASE_MS)));
      ids.push(...claims.flat().map(({ event }) => event.id));
      return ids.length >= told.length;
    });
    t.same(ids.sort(), told.map(({ id }) => id).sort());
    for (const id of ids) await events.delivered(id);
  });
}
