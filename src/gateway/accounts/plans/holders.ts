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
  yield* paged('key', (after) => keys.page(after, PAGE));
  yield* paged('customer', (after) => customers.page(after, PAGE));
}

async function* paged(
  kind: Holder['kind'],
  read: (afterId: string | null) => Promise<readonly (KeyRecord | CustomerRecord)[]>,
): AsyncGenerator<Holder> {
  for (let afterId: string | null = null; ;) {
    const page: readonly (KeyRecord | CustomerRecord)[] = await read(afterId);
    for (const { id, plan, limits, status } of page) {
      afterId = id;
      const isHolder = status !== 'revoked' && status !== 'closed' && customerOf(id) === null;
      if (isHolder) yield { kind, id, plan, limits };
    }
    if (page.length < PAGE) return;
    await nextTurn();
  }
}
