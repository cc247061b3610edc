import type { Gateway } from '../servers/gateway.js';

export interface Counts {
  readonly requests: number;
  readonly units: number;
  readonly limited: number;
  readonly banned: number;
  readonly failed: number;
}

/** What billing is notified of one key: yesterday and today, so that a midnight in the test changes nothing. */
export async function ledgerOf(gateway: Gateway, keyId: string): Promise<Counts> {
  const [from, to] = [day(Date.now() - 86_400_000), day(Date.now())];
  const { status, body } = await gateway.admin('GET', `/admin/v1/usage?from=${from}&to=${to}&by=key&key=${keyId}`);
  if (status !== 200) throw new Error(`no usage: ${status} ${JSON.stringify(body)}`);
  return (body as { totals: Counts }).totals;
}

/** The UTC day, such as `2026-11-21`. */
export function day(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
