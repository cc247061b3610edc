import t from 'tap';
import type { Plan } from '../../../../src/gateway/admission/plan.js';
import { Amounts } from '../../../../src/gateway/usage/amounts/payer-rows.js';
import { BAN } from '../../admission/ban.js';
import { openRegistry, openStore } from '../../accounts/store.js';

type Test = Parameters<typeof openStore>[0];

const DAY = { minute: 60, day: 1_000 };
const free: Plan = { name: 'free', limits: DAY, refill: 'interval', ban: BAN };
const NOVEMBER = { from: '2026-11-01', to: '2026-11-30', by: ['customer'] as const, openFrom: '2026-12-02' };
const PRICES = { free: { monthly: 3000, included: 0, perUnit: 0, currency: 'EUR' } };
/** SHA-256 of something. */
const HASH = 'a'.repeat(64);

/** Keys at a time that the test sets, and what November comes to. */
function stage(t: Test) {
  const { engine } = openStore(t);
  const clock = { at: '2026-11-01T00:00:00Z' };
  const plans = new Map([['free', free]]);
  const now = () => Promise.resolve(Date.parse(clock.at));
  const registry = openRegistry(engine, { plans: () => plans, clock: now, acceptImported: true });
  const amountOf = async (key: string): Promise<unknown> => {
    const amounts = new Amounts({ ...NOVEMBER, key, prices: PRICES }, engine);
    for await (const rows of amounts.rows(nothing())) for (const { amount } of rows) return amount;
    return 0;
  };
  return { clock, registry, amountOf };
}

async function* nothing() {
  await Promise.resolve();
  yield [];
}

t.test('a closed month stays as it is when an expired key gets a new end, or loses it', async (t) => {
  const { clock, registry, amountOf } = stage(t);
  const { record } = await registry.create({ plan: 'free', name: 'k', expires: '2026-11-05T12:00:00Z' });
  clock.at = '2026-12-02T00:00:00Z';
  t.equal(await amountOf(record.id), 400);
  await registry.change(record.id, { expires: '2027-01-01' });
  t.equal(await amountOf(record.id), 400);
  await registry.change(record.id, { expires: null });
  t.equal(await amountOf(record.id), 400);
});

t.test('a closed month stays as it is when a key is imported later that was made before', async (t) => {
  const { clock, registry, amountOf } = stage(t);
  clock.at = '2026-12-02T00:00:00Z';
  const line = { line: 1, body: { hash: HASH, plan: 'free', name: 'old', created: '2026-01-01' } };
  async function* lines() {
    await Promise.resolve();
    yield line;
  }
  await registry.import(lines(), 'test', false);
  const { records } = await registry.list({}, null, 10);
  t.match(records, [{ name: 'old', createdAtMs: Date.parse('2026-01-01') }]);
  t.equal(await amountOf(records[0]!.id), 0);
});
