import type { Gateway } from '../servers/gateway.js';

/** What the gateway says of its files. Whatever they hold, it stays in service. */
export async function configPart(gateway: Gateway): Promise<{ ok: boolean; detail: string }> {
  const { status, body } = await gateway.admin('GET', '/readyz');
  if (status !== 200) throw new Error(`not in service: ${JSON.stringify(body)}`);
  return (body as { parts: { config: { ok: boolean; detail: string } } }).parts.config;
}
