import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { balance } from './balance.js';
import { bans } from './bans.js';
import { buckets } from './buckets.js';
import { ask, freshId, newKey, NOON_MS } from './cast.js';
import { concurrency } from './concurrency.js';
import { corrections } from './corrections.js';
import { doors } from './doors.js';
import { customers } from './customers.js';
import { grants } from './grants.js';
import { outbox } from './outbox.js';
import { personal } from './personal.js';
import { told } from './told.js';
import { verification } from './verification.js';
import { keys } from './keys.js';
import { ledger } from './ledger.js';
import { sessionSecret } from './session-secret.js';
import { tokens } from './tokens.js';
import { transfer } from './transfer.js';
import { windows } from './windows.js';

/**
 * What every admission engine promises (port.ts). `open` gives an engine with `PLANS`
 * of cast.ts and a ledger of 400 days; the suite closes it.
 */
export async function conformance(t: Test, name: string, open: () => Promise<AdmissionEngine>): Promise<void> {
  await t.test(name, async (t) => {
    const engine = await open();
    t.teardown(() => engine.close());
    await engine.check();
    for (const part of [
      buckets,
      windows,
      verification,
      bans,
      doors,
      ledger,
      concurrency,
      balance,
      corrections,
      keys,
      customers,
      grants,
      personal,
      tokens,
      sessionSecret,
      outbox,
      told,
      transfer,
    ])
      await t.test(part.name, (t) => (part(t, engine), t.end()));

    await t.test('a check passes while the store serves, and after the end every call is refused', async (t) => {
      const key = await newKey(engine, 'free');
      await engine.check();
      await engine.close();
      await t.rejects(engine.check(), { name: 'StoreUnavailable' });
      await t.rejects(ask(engine, key, NOON_MS), { name: 'StoreUnavailable' });
      await t.rejects(engine.keys.read(freshId()), { name: 'StoreUnavailable' });
      await t.rejects(engine.customers.read('nobody00'), { name: 'StoreUnavailable' });
      await t.rejects(engine.bans.read(freshId()), { name: 'StoreUnavailable' });
      await t.rejects(engine.tokens.read(freshId()), { name: 'StoreUnavailable' });
      await t.rejects(engine.sessionSecret.read(), { name: 'StoreUnavailable' });
    });
  });
}
