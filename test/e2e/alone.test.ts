import t from 'tap';
import { codeOf } from '../answers/honest.js';
import { startGateway } from '../servers/gateway.js';
import { startPets } from '../servers/pets.js';
import { startPostgres } from '../servers/postgres.js';
import { openClient } from './client.js';

t.test('the gateway runs without pets, serves as soon as they are there, and stops when told', async (t) => {
  const first = await startPets(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: first.url } });
  const { key } = await gateway.createKey({ plan: 'pro' });
  const client = openClient(t, gateway.url, 1);
  t.equal((await client.send(key)).status, 200);
  t.same(await first.program.stop().then(() => first.program.exited), { code: 0, signal: null }, 'pets stop alone');

  const away = await client.send(key);
  t.equal(away.status, 503);
  t.equal(codeOf(away), 'upstream_unavailable');
  t.equal(
    (await client.send(key, { path: '/openapi.json' })).status,
    200,
    'what the gateway answers itself it still answers',
  );
  t.equal((await client.send(null)).status, 401, 'and strangers are still refused by itself');
  t.equal(
    (await fetch(`${gateway.adminUrl}/readyz`)).status,
    200,
    'it stays ready: its 503 is a better answer than none',
  );

  await gateway.program.stop();
  t.same(await gateway.program.exited, { code: 0, signal: null }, 'the gateway stops alone');
});

t.test('a pet added through the gateway outlives kill -9 of both, also in PostgreSQL', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const databaseUrl = await postgres.createDatabase('e2e');
  for (const options of [{}, { databaseUrl }]) {
    const pets = await startPets(t, options);
    const gateway = await startGateway(t, { environment: { PETS_URL: pets.url } });
    const { key } = await gateway.createKey({ plan: 'pro' });
    const added = await openClient(t, gateway.url, 1).send(key, {
      method: 'POST',
      path: '/v1/pets',
      body: '{"name":"Rex","categoryId":9007199254740993}',
    });
    t.equal(added.status, 201);
    await Promise.all([pets.program.stop('SIGKILL'), gateway.program.stop('SIGKILL')]);

    const petsAgain = await startPets(t, { ...options, dataFolder: pets.dataFolder });
    const again = await startGateway(t, { dataFolder: gateway.dataFolder, environment: { PETS_URL: petsAgain.url } });
    const client = openClient(t, again.url, 1);
    const found = await client.send(key, { path: added.headers.get('location') ?? '' });
    t.equal(found.status, 200, 'the key is known');
    t.equal(found.body, added.body, 'and the pet is there, digit by digit');
  }
});
