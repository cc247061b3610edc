import { LEASE_MS, type Lease } from '../../../admission/leases.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { payerName } from '../keyspace/names.js';

const RENEW = loadScript('leases/renew', { LEASE_MS });

/** Keeps leases in force, those of each key or customer in one step. Rejects with StoreUnavailable if some are not. */
export async function renew(link: Link, leases: readonly Lease[]): Promise<void> {
  const ids = new Map<string, string[]>();
  for (const { keyId, id } of leases) {
    const name = payerName(keyId);
    ids.set(name, [...(ids.get(name) ?? []), String(id)]);
  }
  await Promise.all([...ids].map(([name, its]) => link.run(RENEW, [name], its)));
}
