import t from 'tap';
import { operator } from '../operator.js';

t.test('events are listed, shown and delivered again', async (t) => {
  const { engine, registry, ...from } = await operator(t, {}, { emitsEvents: true });
  const run = (...args: readonly string[]) => from.run('events', ...args);
  t.match(await run('list'), { code: 0, stdout: 'No event waits.\n' });
  t.match(await run('list', '--state', 'dead'), { code: 0, stdout: 'No dead events.\n' });
  t.match(await run('list', '--state', 'scheduled'), { code: 0, stdout: 'No event is scheduled.\n' });
  for (const name of ['a', 'b', 'c']) await registry.create({ plan: 'free', name });
  const entries = await engine.outbox.claim(2, 60_000);
  const ids = entries.map(({ event }) => event.id);
  for (const entry of entries) await engine.outbox.deadLetter({ ...entry, attempts: 17, failure: 'it answered 500' });

  t.match(await run('list'), {
    code: 0,
    stdout: /^id +type +time +attempts +failure\n\S+ +petgate\.key\.created .*\n$/,
  });
  const { stdout } = await run('list', '--state', 'dead', '--json');
  const dead = JSON.parse(stdout) as { events: readonly { id: string }[] };
  t.same(dead.events.map(({ id }) => id).sort(), [...ids].sort());
  t.match((await run('show', ids[0]!)).stdout, /^id +\S+\ntype +petgate\.key\.created\n[^]*failure +it answered 500\n/);
  t.match(JSON.parse((await run('show', ids[0]!, '--json')).stdout), { id: ids[0], state: 'dead' });

  t.match(await run('redeliver', ids[0]!), { code: 0, stdout: `Event ${ids[0]!} is sent now.\n` });
  t.match(await engine.outbox.figures(), { waiting: 2, dead: 1 });
  t.match(await run('redeliver', '--dead'), { code: 0, stdout: `Event ${ids[1]!} is sent now.\n` });
  t.match(await engine.outbox.figures(), { waiting: 3, dead: 0 });
  t.match(await run('redeliver', '--dead'), { code: 0, stdout: '0 events are sent now.\n' });
  t.match(await run('redeliver'), { code: 2, stderr: 'Give either an ID or --dead' });
  t.match(await run('redeliver', ids[0]!, '--dead'), { code: 2 });
  t.match(await run('show', 'x'), { code: 1, stderr: 'No event of this id waits or is dead.' });
});

t.test('keys that end are listed as scheduled; without a webhook it is told that events are off', async (t) => {
  const { engine, registry, run, json } = await operator(t, {}, { emitsEvents: true });
  const expires = new Date(Date.now() + 30 * 86_400_000).toISOString();
  const { record } = await registry.create({ plan: 'free', name: 'x', expires });
  const id = `${record.id}-expiring-${record.expiresAtMs}`;
  t.match((await run('events', 'list', '--state', 'scheduled')).stdout, `${id}  petgate.key.expiring`);
  t.match(await json('events', 'show', id), { state: 'scheduled' });
  t.match(await run('events', 'redeliver', id), { code: 0, stdout: `Event ${id} is sent now.\n` });
  t.match(await json('events', 'show', id), { state: 'waiting' });
  const due = await engine.outbox.claim(10, 60_000);
  t.ok(
    due.some(({ event }) => event.id === id),
    'and it is',
  );

  const silent = await operator(t);
  t.match(await silent.run('events', 'list'), { code: 0, stdout: /^Events are off: set PETGATE_EVENTS_URL/ });
});
