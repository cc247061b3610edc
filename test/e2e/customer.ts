import type { Gateway } from '../servers/gateway.js';
import { day, type Counts } from './ledger.js';

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

export type Row = Counts & { readonly customer?: string; readonly key?: string; readonly reference?: string };

/** What the ledger has of yesterday and today. */
export async function report(gateway: Gateway, by: 'customer' | 'key'): Promise<readonly Row[]> {
  const [from, to] = [day(Date.now() - 86_400_000), day(Date.now())];
  const { status, body } = await gateway.admin('GET', `/admin/v1/usage?from=${from}&to=${to}&by=${by}`);
  if (status !== 200) throw new Error(`no usage: ${status} ${JSON.stringify(body)}`);
  return (body as { rows: readonly Row[] }).rows;
}
