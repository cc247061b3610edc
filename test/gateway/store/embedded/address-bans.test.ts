import t from 'tap';
import type { Test } from 'tap';
import { openEmbeddedEngine, type EmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import { ask, askMany, NOON_MS, PLANS } from '../../../conformance/cast.js';
import { tempFolder } from './fixture.js';

function open(t: Test, folder: string, mapBytes = 64 * 2 ** 20): EmbeddedEngine {
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes });
  t.teardown(() => engine.close());
  return engine;
}

const subject = (n: number) => ({ kind: 'address' as const, address: `198.51.${n >> 8}.${n & 255}` });

t.test('the ban of an address is listed, and lifted at once', async (t) => {
  const engine = open(t, tempFolder(t));
  t.equal((await askMany(engine, subject(1), 20, NOON_MS)).at(-1)?.outcome, 'banned');
  t.match((await engine.bans.addresses(null, 10)).bans, [{ address: '198.51.0.1', level: 1 }]);
  t.equal(await engine.bans.liftAddress('198.51.0.1'), true);
  t.equal((await ask(engine, subject(1), NOON_MS)).outcome, 'limited');
  t.same((await engine.bans.addresses(null, 10)).bans, []);
});

t.test('addresses that share a row are listed as one, and free together', async (t) => {
  const engine = open(t, tempFolder(t), 256 * 1_024);
  for (let n = 0; n < 256; n += 1) await ask(engine, subject(n), NOON_MS);
  t.equal((await askMany(engine, subject(1_000), 20, NOON_MS)).at(-1)?.outcome, 'banned');
  const [ban] = (await engine.bans.addresses(null, 10)).bans;
  t.match(ban?.address, /^~\d{1,4}$/);
  t.equal(await engine.bans.liftAddress('198.51.3.232'), true);
  t.equal((await ask(engine, subject(1_000), NOON_MS)).outcome, 'limited');
  await askMany(engine, subject(1_000), 20, NOON_MS);
  t.equal(await engine.bans.liftAddress(ban!.address), true, 'also by its name');
  t.equal((await ask(engine, subject(1_000), NOON_MS)).outcome, 'limited');
});
