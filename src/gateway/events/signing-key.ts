const PREFIX = 'whsec_';
/** Standard Webhooks requires a key of 24 to 64 bytes. */
const [LEAST_BYTES, MAX_BYTES] = [24, 64];

/** Parses a secret of Standard Webhooks (`whsec_` and base64); undefined if it has another form. */
export function signingKey(secret: string): Buffer | undefined {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const key = Buffer.from(encoded, 'base64');
  // Buffer ignores characters that are not base64.
  const isWhole = key.toString('base64').replace(/={1,2}$/, '') === encoded.replace(/={1,2}$/, '');
  return isWhole && key.length >= LEAST_BYTES && key.length <= MAX_BYTES ? key : undefined;
}
