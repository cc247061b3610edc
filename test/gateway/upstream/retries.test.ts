import t from 'tap';
import { Retries } from '../../../src/gateway/upstream/retries.js';
import { startGateway } from '../../servers/gateway.js';
import { startUpstream } from '../../servers/upstream.js';

t.test('a reserve, and then one retry for five requests', (t) => {
  const retries = new Retries();
  const takeAll = (): number => {
    let taken = 0;
    while (taken < 1_000 && retries.take()) taken += 1;
    return taken;
  };
  t.equal(takeAll(), 50);
  for (let n = 0; n < 51; n += 1) retries.earn();
  t.equal(takeAll(), 10);
  for (let n = 0; n < 10_000; n += 1) retries.earn();
  t.equal(takeAll(), 50, 'what is saved has a bound');
  t.end();
});

t.test('a service that breaks off every answer does not get twice the load', async (t) => {
  const service = await startUpstream(t);
  service.handle = (_seen, response) => response.destroy();
  const gateway = await startGateway(t, {
    config: { upstreams: { pets: { breaker: 'off' } } },
    environment: { PETS_URL: service.url },
  });
  const { key } = await gateway.createKey({ plan: 'business' });
  const REQUESTS = 200;
  for (let n = 0; n < REQUESTS; n += 1) {
    const answer = await fetch(`${gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    await answer.arrayBuffer();
    if (answer.status !== 502) t.fail(`answered ${answer.status}`);
  }
  // The reserve, and what the requests themselves earned.
  t.ok(
    service.seen.length >= REQUESTS + 50 && service.seen.length <= REQUESTS + 50 + REQUESTS / 5,
    `${service.seen.length} for ${REQUESTS}`,
  );
});
