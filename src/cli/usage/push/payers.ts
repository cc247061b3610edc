import { listIn, type AdminClient } from '../../admin/admin-client.js';

export interface Payers {
  /** Returns the customer's ID; null for a key without one. */
  readonly customerOf: (keyId: string) => string | null;
  /** Returns the reference of a customer, or its ID if it has none; of a key without a customer, its own ID. */
  readonly subjectOf: (payer: string) => string;
}

/** Reads the references of all customers once. */
export async function payersOf(client: AdminClient): Promise<Payers> {
  // Imported only here: the image of pets has this command line, but no gateway.
  const { customerOf } = await import('../../../gateway/store/records/customer-id.js');
  const customers = await client.askAll('/admin/v1/customers', new URLSearchParams(), 'customers');
  const references = new Map(
    listIn(customers, 'customers').map(({ id, reference }) => [String(id), String(reference)]),
  );
  return { customerOf, subjectOf: (payer) => references.get(payer) || payer };
}
