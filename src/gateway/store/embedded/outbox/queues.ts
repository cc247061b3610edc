import { RECHECK_MS, type Outbox } from '../../outbox/event.js';
import { inTransaction } from '../files/errors.js';
import { AFTER_ALL, listedIn, listedRow, queueOf, rangeOf } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { put, putDue, queue, readEntry, remove, shown } from './entries.js';

/**
 * From an event's arrival to the queues of its receivers, and out of these.
 * @param look reads what any process has committed
 * @param enterPending brings some pending events into the outbox
 */
export function queuesOf(
  stores: Stores,
  readLatest: <Result>(work: () => Result) => Promise<Result>,
  enterPending: () => Promise<void>,
): Pick<Outbox, 'arrivals' | 'distribute' | 'claim' | 'claimCustomers' | 'release'> {
  /** What `take` makes of what is due in a list. A transaction syncs the disk; nearly always nothing is due. */
  const claim = async <Result>(
    list: string,
    count: number,
    take: (id: string) => Result | undefined,
  ): Promise<readonly Result[]> => {
    if ((await readLatest(() => dueIn(stores.durable, list, 1))).length === 0) return [];
    return inTransaction(stores, () =>
      dueIn(stores.durable, list, count)
        .map(take)
        .filter((taken) => taken !== undefined),
    );
  };
  return {
    async arrivals(count) {
      await enterPending();
      return readLatest(() =>
        dueIn(stores.durable, 'd', count).flatMap((id) => readEntry(stores.durable, id)?.event ?? []),
      );
    },
    async distribute(events) {
      if (events.length === 0) return;
      await inTransaction(stores, () => {
        for (const event of events) queue(stores.durable, event, Date.now());
      });
    },
    claim: (receiver, count, leaseMs) =>
      claim(queueOf(receiver), count, (id) => {
        const there = readEntry(stores.durable, id)!;
        remove(stores.durable, there);
        put(stores.durable, { ...there, leasedToMs: Date.now() + leaseMs });
        return shown(there);
      }),
    claimCustomers: (count, leaseMs) =>
      claim('R', count, (customer) => {
        putDue(stores.durable, customer, Date.now() + leaseMs);
        return customer;
      }),
    release: (customer, pauseMs) =>
      inTransaction(stores, () => {
        const [head] = stores.durable.getKeys({ ...rangeOf(queueOf(customer)), limit: 1 });
        const nowMs = Date.now();
        const dueMs = head === undefined ? null : Number(head.slice(-17 - listedIn(head).length).slice(0, 16));
        putDue(stores.durable, customer, dueMs && Math.max(Math.min(dueMs, nowMs + RECHECK_MS), nowMs + pauseMs));
      }),
  };
}

/** Ids of what is due in a list. */
function dueIn(durable: Store, list: string, count: number): readonly string[] {
  const end = listedRow(list, Date.now(), AFTER_ALL);
  return [...durable.getKeys({ start: list, end, limit: count })].map(listedIn);
}
