import { listIn, type AdminClient } from '../../client.js';

/** Who pays for a key. `customer` is the id, null of a key without one. */
export interface Payer {
  readonly customer: string | null;
  readonly subject: string;
}
export type PayerOf = (keyId: string) => Payer;

/** Who pays for each key, as the billing system knows them: the references of all customers are read once. */
export async function payersOf(client: AdminClient): Promise<PayerOf> {
  // Only here: the image of pets has this command line and no gateway.
  const { customerOf } = await import('../../../gateway/store/records/customer-id.js');
  const customers = await client.askAll('/admin/v1/customers', new URLSearchParams(), 'customers');
  const references = new Map(
    listIn(customers, 'customers').map(({ id, reference }) => [String(id), String(reference)]),
  );
  return (keyId) => {
    const customer = customerOf(keyId);
    return { customer, subject: customer === null ? keyId : references.get(customer) || customer };
  };
}
