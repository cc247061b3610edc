import type { Gateway } from '../servers/gateway.js';

export interface Customer {
  readonly id: string;
  readonly reference: string;
  readonly keys: readonly { readonly id: string; readonly key: string }[];
}

/** A customer on `plan` with so many keys. */
export async function createCustomer(gateway: Gateway, plan: string, keys: number): Promise<Customer> {
  const reference = `C-${plan}`;
  const { status, body } = await gateway.admin('POST', '/admin/v1/customers', { name: 'test', plan, reference });
  if (status !== 201) throw new Error(`no customer: ${status} ${JSON.stringify(body)}`);
  const { id } = body as { id: string };
  const made = await Promise.all(Array.from({ length: keys }, () => gateway.createKey({ customer: id })));
  return { id, reference, keys: made };
}
