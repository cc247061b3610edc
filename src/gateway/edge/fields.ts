/** How many spellings of field names are remembered. Beyond it a name costs its lower-casing each time. */
const MAX_SPELLINGS = 1000;
const spellings = new Map<string, string>();

/** A field name in lower case. Clients repeat few spellings, so each is worked out once. */
export function lowerName(name: string): string {
  const known = spellings.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  if (spellings.size < MAX_SPELLINGS) spellings.set(name, lower);
  return lower;
}

/** Fields that belong to one connection only (RFC 9110 §7.6.1), both ways. */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection', 'http2-settings', 'keep-alive', 'proxy-authenticate', 'proxy-authorization',
  'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade',
]);

/** The names a Connection field lists, in lower case. */
export function connectionOptions(value: string): readonly string[] {
  return value.toLowerCase().split(',').map((option) => option.trim());
}
