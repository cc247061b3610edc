import type { Test } from 'tap';
import { factOf, KEYS_EACH, live, OLD_SECRET, SECRET, startTelling, waiting, type Setting } from '../../e2e/telling.js';
import type { Gateway } from '../../servers/gateway.js';
import { goodSignatures, startReceiver, type Answering } from '../../servers/receiver.js';
import { until } from '../../servers/until.js';

/** How often a gateway is killed: PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 20 : 2;
/** A lease, and pauses after four failures. */
const PATIENCE_MS = 120_000;

/** How often one event fails at most: pauses double, and nobody wants to wait for the longest. */
const FAILURES = 4;

/** Takes about every second attempt; fails the others in all ways there are. */
function atRandom(): Answering {
  const failures = new Map<unknown, number>();
  return (response, { event: { id } }) => {
    const failed = failures.get(id) ?? 0;
    const fate = failed < FAILURES ? Math.random() : 0;
    if (fate >= 0.5) failures.set(id, failed + 1);
    if (fate < 0.5) response.end();
    else if (fate < 0.8) response.writeHead(503).end();
    else if (fate < 0.95) response.destroy();
    // Else it hangs.
  };
}

/** Units of a day that `spend` uses up, and after how many of them which shares are crossed. */
const DAY = 4;
const SHARES: ReadonlyMap<number, readonly number[]> = new Map([
  [2, [50]],
  [4, [80, 100]],
]);

/** Spends days of keys with and without a customer; gives the crossings of which all requests were answered. */
async function spend(gateway: Gateway): Promise<readonly string[]> {
  const crossed: string[] = [];
  const terms = { plan: 'enterprise', limits: { minute: 100, day: DAY } };
  const spendAll = async (subject: string, tokens: readonly string[]): Promise<void> => {
    for (let used = 1; used <= DAY; used += 1) {
      const headers = { authorization: `Bearer ${tokens[used % tokens.length]!}` };
      const answer = await fetch(`${gateway.url}/v1/nowhere`, { headers });
      await answer.arrayBuffer();
      if (answer.status !== 404) return;
      for (const share of SHARES.get(used) ?? []) crossed.push(`petgate.quota.crossed ${subject} ${share}`);
    }
  };
  const spendKey = async (): Promise<void> => {
    const { id, key } = await gateway.createKey(terms);
    await spendAll(id, [key]);
  };
  const spendCustomer = async (): Promise<void> => {
    const { body } = await gateway.admin('POST', '/admin/v1/customers', { ...terms, name: 'told' });
    const { id } = body as { id: string };
    const keys = [await gateway.createKey({ customer: id }), await gateway.createKey({ customer: id })];
    await spendAll(
      id,
      keys.map(({ key }) => key),
    );
  };
  await Promise.allSettled(Array.from({ length: KEYS_EACH }, (_, n) => (n % 2 === 0 ? spendKey() : spendCustomer())));
  return crossed;
}

/** Kills gateways while they deliver events: each that was acknowledged arrives, under one id. */
export async function survivesKills(t: Test, setting: Omit<Setting, 'url'>): Promise<void> {
  const receiver = await startReceiver(t, atRandom());
  const acknowledged: string[] = [];
  let gateway = await startTelling(t, { ...setting, url: receiver.url });
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const before = receiver.received.length;
    const living = Promise.all([live(gateway), spend(gateway)]);
    // In the midst of it: changes are made, and attempts under way.
    await until('it delivers', () => receiver.received.length > before + Math.random() * KEYS_EACH);
    await gateway.program.stop('SIGKILL');
    acknowledged.push(...(await living).flat());
    gateway = await startTelling(t, { ...setting, url: receiver.url });
  }
  acknowledged.push(...(await live(gateway)), ...(await spend(gateway)));
  const taken = (): ReadonlySet<string> => {
    const ids = new Set(receiver.taken());
    return new Set(receiver.received.filter(({ event }) => ids.has(String(event['id']))).map(factOf));
  };
  const missing = (): readonly string[] => acknowledged.filter((fact) => !taken().has(fact));
  await until('every event has arrived', () => missing().length === 0, PATIENCE_MS).catch(() => undefined);
  t.strictSame(missing(), [], `of ${acknowledged.length} facts`);
  t.ok(
    acknowledged.length >= 6 * KEYS_EACH,
    `${acknowledged.length} changes and crossings, ${receiver.received.length} attempts`,
  );

  const idsOf = new Map<string, Set<string>>();
  for (const each of receiver.received)
    idsOf.set(factOf(each), (idsOf.get(factOf(each)) ?? new Set()).add(String(each.headers['webhook-id'])));
  t.strictSame(
    [...idsOf].filter(([, ids]) => ids.size > 1),
    [],
    'repeats share their id',
  );
  for (const each of receiver.received) {
    t.equal(each.event['id'], each.headers['webhook-id']);
    t.strictSame(goodSignatures(each, SECRET), [true, false]);
    t.strictSame(goodSignatures(each, OLD_SECRET), [false, true]);
  }
  await until(
    'the outbox is empty',
    async () => (await gateway.admin('GET', '/admin/v1/events')).body !== null && (await waiting(gateway)) === 0,
    PATIENCE_MS,
  );
  t.notMatch(gateway.program.output(), /whsec_|from=petgate|c3Nzc3/, 'no secret is logged');
}
