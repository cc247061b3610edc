import type { Gateway } from '../servers/gateway.js';

/** What the gateway says of its files. */
export async function configPart(gateway: Gateway): Promise<{ ok: boolean; detail: string }> {
  const { body } = await gateway.admin('GET', '/readyz');
  return (body as { parts: { config: { ok: boolean; detail: string } } }).parts.config;
}
