import { join } from 'node:path';
import { open } from 'lmdb';
import t from 'tap';
import { openEmbeddedEngine } from '../../../../../src/gateway/store/embedded/engine.js';
import type { EmbeddedEngine } from '../../../../../src/gateway/store/embedded/engine.js';
import { MONTHS, rangeOf } from '../../../../../src/gateway/store/embedded/files/rows.js';
import {
  ask,
  askMany,
  change,
  changeCustomer,
  keyOf,
  newCustomer,
  newKey,
  PLANS,
  standing,
} from '../../../../conformance/cast.js';
import { stateBefore } from '../../before.js';
import { tempFolder } from '../fixture.js';

const MAP_BYTES = 2 ** 26;

t.test('a folder of before begins its months from the ledger, once', async (t) => {
  const folder = tempFolder(t);
  const openEngine = (): EmbeddedEngine =>
    openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: MAP_BYTES });
  const engine = openEngine();
  const lone = await newKey(engine, 'free');
  const struck = await newKey(engine, 'strict');
  const customer = await newCustomer(engine, 'pro');
  const keys = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
  await askMany(engine, lone, 4, Date.now());
  await askMany(engine, lone, 1, Date.now(), { cost: 3 });
  await askMany(engine, struck, 3, Date.now());
  for (const key of keys) await askMany(engine, key, 5, Date.now());
  await engine.close();

  const durable = open<Buffer, string>(join(folder, 'durable.mdb'), { encoding: 'binary', mapSize: MAP_BYTES });
  t.not(durable.getBinary(MONTHS), undefined, 'a folder that is new is marked');
  for (const { key, value } of [...durable.getRange(rangeOf('s'))]) await durable.put(key, stateBefore(value));
  await durable.remove(MONTHS);
  await durable.close();

  for (const left of [13, 12]) {
    const next = openEngine();
    if (left === 13) await change(next, lone, { plan: 'monthly' });
    t.equal(standing(await ask(next, lone, Date.now(), { cost: 0 })).more[0]?.remaining, left);
    await ask(next, lone, Date.now());
    if (left === 13) {
      await changeCustomer(next, customer, { plan: 'monthly' });
      t.equal(standing(await ask(next, keys[1]!, Date.now(), { cost: 0 })).more[0]?.remaining, 10);
      t.match(await ask(next, struck, Date.now()), { outcome: 'banned', level: 1, started: true }, 'the third strike');
    }
    await next.close();
  }
});
