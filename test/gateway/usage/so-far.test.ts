import t from 'tap';
import type { Plan } from '../../../src/gateway/admission/plan.js';
import type { UsageRow } from '../../../src/gateway/store/records/counts.js';
import { BillsSoFar } from '../../../src/gateway/usage/so-far.js';
import { BAN } from '../admission/ban.js';
import { openStore, openRegistry } from '../accounts/store.js';

const PRICE = { monthly: 3000, included: 10, perUnit: 2, currency: 'EUR' };
const NOON_MS = Date.parse('2026-11-21T12:00:00Z');
const free: Plan = { name: 'free', limits: { minute: 60, day: 1000 }, refill: 'interval', ban: BAN, price: PRICE };

/** Bills over a ledger of which the test says what is in it; `reads` counts how often it is read. */
async function stage(t: Parameters<typeof openStore>[0], plan: Plan = free) {
  const { engine } = openStore(t);
  const registry = openRegistry(engine, { clock: () => Promise.resolve(Date.parse('2026-10-01')) });
  const { id: customer } = await registry.customers.create({ name: 'Acme', plan: 'free' }, 'test');
  const { record } = await registry.create({ customer, name: 'k' });
  const ledger = { units: 12, keys: [record.id] as readonly string[], reads: 0, wait: Promise.resolve() };
  const usage = {
    async *rows() {
      ledger.reads += 1;
      await ledger.wait;
      const counts = { requests: 1, units: ledger.units, returned: 0, limited: 0, banned: 0, failed: 0 };
      yield ledger.keys.map((key): UsageRow => ({ key, plan: 'free', operation: 'o', day: '2026-11-20', ...counts }));
    },
  };
  const { keys, customers } = engine;
  const bills = new BillsSoFar({ usage, keys, customers }, () => new Map([[plan.name, plan]]));
  return { bills, ledger, customer, key: record.id };
}

t.test('a sum is added up once a minute, and anew in the next month', async (t) => {
  const { bills, ledger, key } = await stage(t);
  const sum = { currency: 'EUR', base: 3000, included: 10, units: 12, overage: 2, amount: 3004, asOfMs: NOON_MS };
  t.match(await bills.of(key, NOON_MS), sum);
  ledger.units = 20;
  t.match(await bills.of(key, NOON_MS + 59_000), { amount: 3004, asOfMs: NOON_MS });
  t.match(await bills.of(key, NOON_MS + 61_000), { amount: 3020, asOfMs: NOON_MS + 61_000 });
  const [lastMs, firstMs] = [Date.parse('2026-11-30T23:59:59Z'), Date.parse('2026-12-01T00:00:00Z')];
  await bills.of(key, lastMs);
  t.match(await bills.of(key, firstMs), { asOfMs: firstMs });
  t.equal(ledger.reads, 4);
});

t.test('nothing is read where no plan has a price', async (t) => {
  const { bills, ledger, key } = await stage(t, { ...free, price: undefined });
  t.equal(await bills.of(key, NOON_MS), null);
  t.equal(ledger.reads, 0);
});

t.test('a sum that takes long is unknown at first, and known later; one that fails is tried again', async (t) => {
  const { bills, ledger, key } = await stage(t);
  let go = (): void => undefined;
  ledger.wait = new Promise((resolve) => (go = resolve));
  t.equal(await bills.of(key, NOON_MS), 'unknown');
  go();
  t.match(await bills.of(key, NOON_MS), { amount: 3004 });
  t.equal(ledger.reads, 1);
  ledger.wait = Promise.reject(new Error('the store is unavailable'));
  t.equal(await bills.of(key, NOON_MS + 61_000), 'unknown');
  ledger.wait = Promise.resolve();
  t.match(await bills.of(key, NOON_MS + 61_000), { amount: 3004 });
});

t.test('of a customer with very many keys it stays unknown, and is not tried again for a minute', async (t) => {
  const { bills, ledger, key, customer } = await stage(t);
  ledger.keys = Array.from({ length: 1_001 }, (_, n) => customer + String(n).padStart(6, '0'));
  t.equal(await bills.of(key, NOON_MS), 'unknown');
  t.equal(await bills.of(key, NOON_MS + 1), 'unknown');
  t.equal(ledger.reads, 1);
});

t.test('on a plan that the plans file no longer has, it is unknown, and not nothing', async (t) => {
  const { bills, ledger, key } = await stage(t, { ...free, name: 'other' });
  t.equal(await bills.of(key, NOON_MS), 'unknown');
  t.equal(await bills.of(key, NOON_MS + 1), 'unknown');
  t.equal(ledger.reads, 1);
});
