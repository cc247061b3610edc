import t from 'tap';
import { ACCOUNT, Visitor } from '../../gateway/holder/browser-like.js';
import { startGateway } from '../../servers/gateway.js';
import { redisFor } from '../../servers/redis.js';
import { until } from '../../servers/until.js';

t.test('while the store is unavailable the page for holders of keys says so, and when to come again', async (t) => {
  const redis = await redisFor(t, { config: ['appendonly yes'] });
  const gateway = await startGateway(t, { environment: { REDIS_URL: redis.url } });
  const { id, key } = await gateway.createKey({ plan: 'free' });
  const visitor = new Visitor(gateway);
  await visitor.signIn(key);
  const form = await visitor.formToken();
  await redis.kill();
  for (const ask of [
    () => visitor.get(),
    () => visitor.post(`${ACCOUNT}/rotate`, { form, overlap: '0s' }),
    () => new Visitor(gateway).signIn(key),
  ]) {
    const { status, headers, text } = await ask();
    t.equal(status, 503);
    t.match(headers.get('content-type'), 'text/html');
    t.match(headers.get('retry-after'), /^[1-9]\d*$/);
    t.match(headers.get('content-security-policy'), "frame-ancestors 'none'");
    t.match(text, /<h1>Not right now.*store_unavailable/s);
    t.notMatch(text, id);
  }
  await redis.restart();
  await until('whoever was signed in still is', async () => (await visitor.get()).text.includes(id));
});
