import { LOOK_AGAIN_MS } from '../../../events/outbox.js';
import type { Outbox } from '../../../events/outbox.js';
import { inTransaction } from '../files/errors.js';
import { AFTER_ALL, listedIn, listedRow, queueOf, rangeOf } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { put, putDue, queue, readEntry, remove, shown } from './entries.js';

/**
 * From an event's arrival to the queues of its receivers, and out of these.
 * @param look reads what any process has committed
 * @param enterAll gives entries to all that admissions wrote
 */
export function queuesOf(
  stores: Stores,
  look: <Result>(work: () => Result) => Promise<Result>,
  enterAll: () => Promise<void>,
): Pick<Outbox, 'arrivals' | 'distribute' | 'claim' | 'claimCustomers' | 'release'> {
  const { durable } = stores;
  /** What `take` makes of what is due in a list. A transaction syncs the disk; nearly always nothing is due. */
  const claim = async <Result>(
    list: string,
    count: number,
    take: (id: string) => Result | undefined,
  ): Promise<readonly Result[]> => {
    if ((await look(() => dueIn(durable, list, 1))).length === 0) return [];
    return inTransaction(stores, () =>
      dueIn(durable, list, count)
        .map(take)
        .filter((taken) => taken !== undefined),
    );
  };
  return {
    async arrivals(count) {
      await enterAll();
      return look(() => dueIn(durable, 'd', count).flatMap((id) => readEntry(durable, id)?.event ?? []));
    },
    async distribute(events) {
      if (events.length === 0) return;
      await inTransaction(stores, () => {
        for (const event of events) queue(durable, event, Date.now());
      });
    },
    claim: (receiver, count, leaseMs) =>
      claim(queueOf(receiver), count, (id) => {
        const there = readEntry(durable, id)!;
        remove(durable, there);
        put(durable, { ...there, leasedToMs: Date.now() + leaseMs });
        return shown(there);
      }),
    claimCustomers: (count, leaseMs) =>
      claim('R', count, (customer) => {
        putDue(durable, customer, Date.now() + leaseMs);
        return customer;
      }),
    release: (customer, pauseMs) =>
      inTransaction(stores, () => {
        const [head] = durable.getKeys({ ...rangeOf(queueOf(customer)), limit: 1 });
        const nowMs = Date.now();
        const dueMs = head === undefined ? null : Number(head.slice(-17 - listedIn(head).length).slice(0, 16));
        putDue(durable, customer, dueMs && Math.max(Math.min(dueMs, nowMs + LOOK_AGAIN_MS), nowMs + pauseMs));
      }),
  };
}

/** Ids of what is due in a list. */
function dueIn(durable: Store, list: string, count: number): readonly string[] {
  const end = listedRow(list, Date.now(), AFTER_ALL);
  return [...durable.getKeys({ start: list, end, limit: count })].map(listedIn);
}
