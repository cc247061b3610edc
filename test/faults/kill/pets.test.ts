import t from 'tap';
import type { Test } from 'tap';
import { everyPet, flood } from '../../pets/flood.js';
import { startProgram, temporaryFolder } from '../../pets/service.js';
import { startPostgres } from '../../servers/postgres.js';
import { until } from '../../servers/until.js';

async function killNine(t: Test, environment: Record<string, string>): Promise<void> {
  const acknowledged = new Map<string, string>();
  for (let round = 1; round <= 3; round += 1) {
    const { child, caller, ended } = await startProgram(t, environment);
    const adding = flood(caller, 1_000_000, `round ${round}`);
    await until(
      'some pets are there',
      async () => (await caller.send('GET', `/v1/pets/${acknowledged.size + 150}`)).status === 200,
    );
    child.kill('SIGKILL');
    t.equal((await ended).signal, 'SIGKILL');
    for (const [id, pet] of await adding) {
      t.notOk(acknowledged.has(id), `id ${id} given twice`);
      acknowledged.set(id, pet);
    }
  }
  const { child, caller, ended } = await startProgram(t, environment);
  const kept = await everyPet(caller);
  const all = new Set(kept);
  t.ok(acknowledged.size >= 300, `${acknowledged.size} acknowledged, ${kept.length} kept`);
  t.same(
    [...acknowledged.values()].filter((pet) => !all.has(pet)),
    [],
    'every acknowledged pet is there as it was',
  );
  t.equal(new Set(kept.map((pet) => pet.split(',', 1)[0])).size, kept.length, 'no id twice');
  t.same(
    await everyPet(caller, '&status=sold'),
    kept.filter((pet) => pet.includes('"sold"')),
    'the index of statuses agrees',
  );
  child.kill('SIGTERM');
  t.equal((await ended).code, 0, 'and it stops when told to');
}

t.test('an acknowledged pet survives kill -9, and its id is never given again (embedded)', (t) =>
  killNine(t, { PETGATE_DATA: temporaryFolder(t) }),
);

t.test('an acknowledged pet survives kill -9, and its id is never given again (postgres)', async (t) => {
  const server = await startPostgres();
  t.teardown(() => server.stop());
  await killNine(t, { DATABASE_URL: server.url });
});
