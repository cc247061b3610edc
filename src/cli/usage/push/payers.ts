import { listIn, type AdminClient } from '../../client.js';

/** Who pays for a key. `customer` is the id, null of a key without one. */
export interface Payer {
  readonly customer: string | null;
  readonly subject: string;
}
export type PayerOf = (keyId: string) => Payer;

export interface Payers extends PayerOf {
  /** The subject of a customer. */
  customer(id: string): string;
}

/** Who pays for each key, as the billing system knows them: the references of all customers are read once. */
export async function payersOf(client: AdminClient): Promise<Payers> {
  // Only here: the image of pets has this command line and no gateway.
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
