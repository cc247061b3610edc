import t from 'tap';
import type { Test } from 'tap';
import { listen, walk, type Reply } from '../../admin/listener.js';

type Event = Readonly<Record<string, unknown>>;

async function withEvents(t: Test, count: number) {
  const listener = await listen(t, {}, { emitsEvents: true });
  for (let n = 0; n < count; n += 1)
    t.equal((await listener.ask('POST', '/admin/v1/keys', { plan: 'free', name: `key ${n}` })).status, 201);
  return { ...listener, list: async () => eventsOf(await listener.ask('GET', '/admin/v1/events')) };
}

function eventsOf({ json }: Reply): readonly Event[] {
  return json['events'] as readonly Event[];
}

t.test('events that wait are listed page by page, and shown by id', async (t) => {
  const { ask, list } = await withEvents(t, 5);
  const all = await list();
  t.equal(all.length, 5);
  t.match(all[0], {
    id: /^[0-9A-Za-z]{12}-[0-9A-Za-z]{12}$/,
    type: 'petgate.key.created',
    data: { customer: null, plan: 'free', key: String },
    state: 'waiting',
    attempts: 0,
    failure: null,
    due: null,
    dead: null,
  });
  t.same((await ask('GET', `/admin/v1/events/${String(all[0]!['id'])}`)).json, all[0]);
  t.same(await walk({ ask }, '/admin/v1/events?limit=2', 'events'), all);
});

t.test('dead ones are listed apart, and delivered again', async (t) => {
  const { ask, list, engine } = await withEvents(t, 2);
  const [{ event } = {}] = await engine.outbox.claim(1, 60_000);
  const given = { attempts: 17, failure: 'it answered 500', dueAtMs: null, deadAtMs: null };
  await engine.outbox.deadLetter({ event: event!, ...given });
  const dead = eventsOf(await ask('GET', '/admin/v1/events?state=dead'));
  t.match(dead, [{ id: event!.id, state: 'dead', attempts: 17, failure: 'it answered 500', dead: /^\d{4}-/ }]);
  t.equal((await list()).length, 1);
  const again = await ask('POST', `/admin/v1/events/${event!.id}/redeliver`);
  t.match(again, { status: 200, json: { id: event!.id, state: 'waiting', attempts: 0, dead: null } });
  t.same(eventsOf(await ask('GET', '/admin/v1/events?state=dead')), []);
  t.equal((await list()).length, 2);
});

t.test('wrong questions are told', async (t) => {
  const { ask } = await withEvents(t, 0);
  t.same((await ask('GET', '/admin/v1/events')).json, { events: [], cursor: null, enabled: true });
  for (const [path, words] of [
    ['/admin/v1/events?state=delivered', 'state: must be one of waiting, scheduled, dead'],
    ['/admin/v1/events?limit=0', 'limit: must be a whole number'],
    ['/admin/v1/events?cursor=abcdefghijkl', 'cursor: must be the one'],
  ] as const)
    t.match(await ask('GET', path), { status: 400, json: { code: 'invalid_query', message: words } }, path);
  for (const id of ['abcdefghijkl-ABCDEFGHIJKL', 'abcdefghijkl', 'x', 'abcdefghijkl-ABCDEFGHIJK%1f']) {
    t.match(await ask('GET', `/admin/v1/events/${id}`), { status: 404, json: { code: 'event_not_found' } }, id);
    t.match(await ask('POST', `/admin/v1/events/${id}/redeliver`), { status: 404, json: { code: 'event_not_found' } });
  }
});
