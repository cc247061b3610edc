import { spawnSync } from 'node:child_process';
import t from 'tap';
import { openEmbeddedStore } from '../../src/pets/store/embedded.js';
import { StoreUnavailable } from '../../src/pets/store/port.js';
import { scrape } from '../servers/exposition.js';
import { serve, temporaryFolder } from './service.js';

t.test('every answer is counted under its operation and status, with its duration', async (t) => {
  const pets = await serve(t, openEmbeddedStore(temporaryFolder(t)));
  await pets.send('POST', '/v1/pets', '{"name":"Rex","categoryId":1}');
  await pets.send('POST', '/v1/pets', '{"name":"Rex"}');
  await pets.send('GET', '/v1/pets');
  await pets.send('HEAD', '/v1/pets');
  await pets.send('GET', '/v1/pets/1');
  await pets.send('GET', '/v1/pets/2');
  await pets.send('GET', '/v1/pets', undefined, { authorization: 'Bearer wrong' });
  await pets.send('GET', '/nothing');
  await pets.send('DELETE', '/v1/pets');
  await pets.send('GET', '/livez');
  const metrics = await scrape(pets.url);
  const counted = metrics.series
    .filter(({ name }) => name === 'petgate_pets_requests_total')
    .map(({ labels, value }) => `${labels['operation'] ?? ''} ${labels['status'] ?? ''} ${value}`);
  t.strictSame(
    counted.sort(),
    [
      'createPet 201 1',
      'createPet 400 1',
      'getPet 200 1',
      'getPet 404 1',
      'health 200 1',
      'listPets 200 2',
      'listPets 401 1',
      'unmatched 404 1',
      'unmatched 405 1',
    ].sort(),
  );
  t.equal(metrics.value('petgate_pets_request_duration_seconds_count', { operation: 'listPets' }), 3);
  t.ok(metrics.value('petgate_pets_request_duration_seconds_sum') < 5, 'in seconds');
  t.equal(metrics.value('petgate_pets_store_up'), 1);
  t.equal((await pets.send('POST', '/metrics')).status, 405);
});

t.test('a store that is unavailable is 0, and the scrape goes well', async (t) => {
  const away = (): Promise<never> => Promise.reject(new StoreUnavailable('away'));
  const pets = await serve(t, { add: away, read: away, page: away, check: away, close: () => Promise.resolve() });
  t.equal((await scrape(pets.url)).value('petgate_pets_store_up'), 0);
});

t.test('promtool has nothing to say about them', async (t) => {
  const pets = await serve(t, openEmbeddedStore(temporaryFolder(t)));
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: (await scrape(pets.url)).text,
    encoding: 'utf8',
  });
  t.strictSame({ status, said: stdout + stderr }, { status: 0, said: '' });
});
