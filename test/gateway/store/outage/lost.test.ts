import t from 'tap';
import { ask, change, newKey } from '../../../conformance/cast.js';
import { durableRedis, isUnavailable, learnt, openGateway, startGateway } from './fixture.js';

t.test('a key that is good here and gone in Redis is neither good nor unknown', async (t) => {
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'free');
  const nowMs = Date.now();
  t.equal((await ask(engine, key, nowMs)).outcome, 'admitted');
  await learnt(engine, key);
  await server.command('DEL', `petgate:{${key.id}}:key`);
  for (let n = 0; n < 3; n += 1) await t.rejects(ask(engine, key, nowMs), /has lost a key/);
  t.equal(isUnavailable(engine), false, 'other keys are decided by Redis');
  t.equal(engine.cached(key.id)?.record.version, key.record.version, 'its copy stays');
});

t.test('a secret that was taken from a key is unknown at once', async (t) => {
  const server = await durableRedis(t);
  const [{ engine }, { engine: other }] = [openGateway(t, server), openGateway(t, server)];
  const key = await newKey(engine, 'free');
  t.equal((await ask(engine, key, Date.now())).outcome, 'admitted');
  await learnt(engine, key);
  await change(other, { ...key }, { secrets: [{ hash: 'x'.repeat(43), endsAtMs: null }] });
  t.match(await ask(engine, key, Date.now()), { outcome: 'unknown_key', reason: 'unknown' });
});

t.test('of a Redis that was emptied the first request is decided here', async (t) => {
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'free');
  t.equal((await ask(engine, key, Date.now())).outcome, 'admitted');
  await learnt(engine, key);
  await server.command('FLUSHALL');
  t.equal((await ask(engine, key, Date.now())).outcome, 'admitted');
  t.ok(isUnavailable(engine));
  await engine.trust?.accept();
});
