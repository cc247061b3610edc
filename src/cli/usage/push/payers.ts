import { listIn, type AdminClient } from '../../admin/client.js';

/** The payer of a key. `customer` is the customer's ID; null for a key without one. */
export interface Payer {
  readonly customer: string | null;
  readonly subject: string;
}
export type PayerOf = (keyId: string) => Payer;

export interface Payers extends PayerOf {
  /** Returns the subject of a customer: its reference, else its ID. */
  customer(id: string): string;
}

/** Reads the references of all customers once; resolves to a function that finds the payer of a key. */
export async function payersOf(client: AdminClient): Promise<Payers> {
  // Imported only here: the image of pets has this command line, but no gateway.
  const { customerOf } = await import('../../../gateway/store/records/customer-id.js');
  const customers = await client.askAll('/admin/v1/customers', new URLSearchParams(), 'customers');
  const references = new Map(
    listIn(customers, 'customers').map(({ id, reference }) => [String(id), String(reference)]),
  );
  const subjectOf = (id: string): string => references.get(id) || id;
  const payerOf = (keyId: string): Payer => {
    const customer = customerOf(keyId);
    return { customer, subject: customer === null ? keyId : subjectOf(customer) };
  };
  return Object.assign(payerOf, { customer: subjectOf });
}
