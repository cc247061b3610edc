import type { Test } from 'tap';
import { until } from '../../servers/until.js';
import { figure } from '../fleet.js';
import { day, type Counts } from '../../e2e/ledger.js';
import type { Events } from './events.js';
import type { Fleet } from './fleet.js';
import { events, only, randomOf, seed } from './random.js';

const DAY_MS = 86_400_000;
/** Room for a busy machine. */
export const TIMEOUT_MS = 60_000 + events * 24_000;

/** Lets happen what the seed says, one after the other, while all clients ask. */
export async function survive(t: Test, fleet: Fleet, gateways: number, happenings: Events): Promise<void> {
  const random = randomOf(seed);
  const names = Object.keys(happenings).filter((name) => name.includes(only));
  t.teardown(() => fleet.stop());
  await fleet.open(gateways);
  for (let n = 0; n < events; n += 1) {
    const name = names[Math.floor(random() * names.length)]!;
    t.comment(`${n + 1}: ${name}`);
    await happenings[name]!(fleet, random);
    await fleet.serves();
    fleet.upstream.seen.length = 0;
  }
  await until('a key was refused', () => fleet.limited > 0);
  await fleet.stop();
  t.comment(JSON.stringify([...fleet.tally]));
  t.notOk(fleet.tally.has('internal_error'), 'no fault of ours');
  t.notOk(fleet.tally.has('invalid_api_key'), 'a valid key is never called a bad one');
  t.notOk(fleet.tally.has('plan_unavailable'), 'no key ever loses its plan');
}

/**
 * Waits until Redis has all that the gateways counted by themselves. One that lost a rotation in a failover is
 * accepted, as an operator does: gateways write it back before.
 */
export async function settled({ seats }: Pick<Fleet, 'seats'>): Promise<void> {
  for (const { gateway } of seats) {
    await until('Redis decides, and nothing waits', async () => {
      if ((await figure(gateway, 'petgate_store_replaced')) === 1)
        await gateway.admin('POST', '/admin/v1/store/accept');
      return (
        (await figure(gateway, 'petgate_store_degraded')) === 0 &&
        (await figure(gateway, 'petgate_spool_requests')) === 0
      );
    });
  }
}

/** Holds what clients saw against what billing is told. */
export async function checkLedger(t: Test, fleet: Fleet): Promise<void> {
  await fleet.turnedAway.settle();
  for (const { id, admitted, unknown, failed, atRisk, before, plan } of fleet.holders) {
    const least = before + admitted - atRisk;
    // What a gateway counted by itself while it brought Redis the rest comes with the next turn.
    await until('all has come', async () => (await ledgerOf(fleet, id)).requests >= least).catch(() => undefined);
    const ledger = await ledgerOf(fleet, id);
    const seen = { admitted, unknown, failed, atRisk, before, ledger };
    t.ok(ledger.requests >= least, 'the ledger has all that was admitted', seen);
    t.ok(ledger.requests <= before + admitted + unknown, 'and at most what nobody knows besides', seen);
    t.ok(ledger.failed <= failed + unknown, 'no failure is counted twice', seen);
    t.equal(ledger.limited + ledger.banned, 0, 'nobody was refused', seen);
    if (plan === null) continue;
    const { body } = await fleet.seats[0]!.gateway.admin('GET', `/admin/v1/keys/${id}`);
    t.equal((body as { plan: string }).plan, plan, 'a change that was acknowledged holds');
  }
}

/**
 * While `lossy` goes on, the store may lose what it counts, and nothing of before. Sums are held against each other at
 * its begin and its end, and go on from what is there then.
 */
export async function mayLose(
  t: Test,
  fleet: Fleet,
  lossy: () => Promise<void>,
  end: () => Promise<void>,
): Promise<void> {
  await fleet.pause();
  await settled(fleet);
  await checkLedger(t, fleet);
  await goOn(fleet);
  fleet.resume();
  fleet.atRisk = true;
  await lossy();
  await fleet.pause();
  fleet.atRisk = false;
  await end();
  await settled(fleet);
  await checkLedger(t, fleet);
  await goOn(fleet);
  fleet.resume();
}

async function goOn(fleet: Fleet): Promise<void> {
  for (const holder of fleet.holders) {
    const { requests } = await ledgerOf(fleet, holder.id);
    Object.assign(holder, { before: requests, admitted: 0, atRisk: 0 });
  }
}

/** Of two days before to two days after all that clocks may have been stepped to. */
async function ledgerOf({ seats }: Fleet, keyId: string): Promise<Counts> {
  const [from, to] = [day(Date.now() - 12 * DAY_MS), day(Date.now() + 43 * DAY_MS)];
  const { status, body } = await seats[0]!.gateway.admin(
    'GET',
    `/admin/v1/usage?from=${from}&to=${to}&by=key&key=${keyId}`,
  );
  if (status !== 200) throw new Error(`no usage: ${status} ${JSON.stringify(body)}`);
  return (body as { totals: Counts }).totals;
}
