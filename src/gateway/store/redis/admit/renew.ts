import { LEASE_MS, type Lease } from '../../../admission/leases.js';
import { groupBy } from '../../../../shared/group-by.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { payerName } from '../keyspace/names.js';

const RENEW = loadScript('leases/renew', { LEASE_MS });

/** Keeps leases in force, those of each key or customer in one step. Rejects with StoreUnavailable if some are not. */
export async function renew(link: Link, leases: readonly Lease[]): Promise<void> {
  const byPayer = groupBy(leases, ({ keyId }) => payerName(keyId));
  await Promise.all(
    [...byPayer].map(([name, its]) =>
      link.run(
        RENEW,
        [name],
        its.map(({ id }) => String(id)),
      ),
    ),
  );
}
