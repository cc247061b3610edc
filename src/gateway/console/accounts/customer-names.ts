import { Customer } from '../../actions/schemas.js';
import type { AdminApi } from '../visit/api.js';

/** Returns what to call each of these customers: its name, or its ID if it has none or cannot be read. */
export async function customerNames(
  api: AdminApi,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, string>> {
  const customers = [...new Set(ids)].filter((id) => id !== null);
  return new Map(
    await Promise.all(
      customers.map(async (id) => {
        const found = await api.ask(Customer, 'GET /admin/v1/customers/{id}', { id }).catch(() => null);
        return [id, found?.name || id] as const;
      }),
    ),
  );
}
