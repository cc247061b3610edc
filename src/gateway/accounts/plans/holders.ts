import { setImmediate as nextTurn } from 'node:timers/promises';
import { customerOf } from '../../store/records/customer-id.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AdmissionEngine } from '../../store/port.js';

/** A customer, or a key without one; neither a closed customer nor a revoked key. */
export interface Holder extends Pick<KeyRecord, 'id' | 'plan' | 'limits'> {
  readonly kind: 'key' | 'customer';
}

export type Holders = Pick<AdmissionEngine, 'keys' | 'customers'>;

const PAGE = 500;

/** Yields all holders, read in pages; requests get their turn in between. */
export async function* holdersIn({ keys, customers }: Holders): AsyncGenerator<Holder> {
  yield* paged((after) => keys.page(after, PAGE), keyHolder);
  yield* paged((after) => customers.page(after, PAGE), customerHolder);
}

function keyHolder({ id, plan, limits, status }: KeyRecord): Holder | null {
  return customerOf(id) !== null || status === 'revoked' ? null : { kind: 'key', id, plan, limits };
}

function customerHolder({ id, plan, limits, status }: CustomerRecord): Holder | null {
  return status === 'closed' ? null : { kind: 'customer', id, plan, limits };
}

async function* paged<Kind extends { readonly id: string }>(
  read: (afterId: string | null) => Promise<readonly Kind[]>,
  asHolder: (record: Kind) => Holder | null,
): AsyncGenerator<Holder> {
  for (let afterId: string | null = null; ;) {
    const page: readonly Kind[] = await read(afterId);
    for (const record of page) {
      afterId = record.id;
      const holder = asHolder(record);
      if (holder !== null) yield holder;
    }
    if (page.length < PAGE) return;
    await nextTurn();
  }
}
