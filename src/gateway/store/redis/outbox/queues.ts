import { RECHECK_MS, type Outbox, type OutboxEntry } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { EVENTS_CUSTOMERS, EVENTS_DUE, EVENTS_OPERATORS, queueName } from '../names.js';
import { enterCopy, readEntry, withdraw } from './entries.js';

const CLAIM = loadScript('outbox/claim');

const RELEASE = loadScript('outbox/release');

/** From an event's arrival to the queues of its receivers, and out of these. */
export function queuesOf(link: Link): Pick<Outbox, 'arrivals' | 'distribute' | 'claim' | 'claimCustomers' | 'release'> {
  const take = async (queue: string, count: number, leaseMs: number): Promise<readonly string[]> =>
    wordsOf(await link.run(CLAIM, [queue], [count.toString(), Math.round(leaseMs).toString()]));
  const takeEntries = async (queue: string, count: number, leaseMs: number): Promise<readonly OutboxEntry[]> => {
    const ids = await take(queue, count, leaseMs);
    const entries = await Promise.all(ids.map((id) => readEntry(link, id)));
    // Delivered, or announced for a step that was never made.
    await Promise.all(ids.filter((_, index) => entries[index] === undefined).map((id) => withdraw(link, id)));
    return entries.filter((entry) => entry !== undefined);
  };
  return {
    async arrivals(count, leaseMs) {
      return (await takeEntries(EVENTS_DUE, count, leaseMs)).map(({ event }) => event);
    },
    async distribute(events) {
      if (events.length === 0) return;
      const at = Math.round(link.storeMs(EVENTS_DUE)).toString();
      await Promise.all(events.filter(({ to }) => to !== undefined).map((copy) => enterCopy(link, copy, at)));
      const own = events.filter(({ to }) => to === undefined);
      if (own.length > 0) await link.command('zadd', EVENTS_OPERATORS, 'NX', ...own.flatMap(({ id }) => [at, id]));
      await link.command('zrem', EVENTS_DUE, ...events.map(({ id }) => id));
    },
    claim: (receiver, count, leaseMs) => takeEntries(queueName(receiver), count, leaseMs),
    claimCustomers: (count, leaseMs) => take(EVENTS_CUSTOMERS, count, leaseMs),
    async release(customer, pauseMs) {
      const pauses = [Math.round(pauseMs).toString(), RECHECK_MS.toString()];
      await link.run(RELEASE, [EVENTS_CUSTOMERS, queueName(customer)], [customer, ...pauses]);
    },
  };
}

export function wordsOf(answer: Buffer): readonly string[] {
  return answer
    .toString()
    .split(' ')
    .filter((word) => word !== '');
}
