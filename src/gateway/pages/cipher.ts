import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of a whole sealed text, which browsers send with each request. */
export const MAX_SEALED = 1024;

/**
 * `v1.` and base64url of nonce, ciphertext and tag (AES-256-GCM). Version and purpose are authenticated with it: what
 * was sealed for one purpose does not open for another.
 */
export function encrypt(purpose: string, text: string, secret: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(boundTo(purpose));
  const bytes = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  const sealed = `${VERSION}.${bytes.toString('base64url')}`;
  if (sealed.length > MAX_SEALED) throw new RangeError(`A sealed text has ${MAX_SEALED} characters at most.`);
  return sealed;
}

/** What was sealed; null where it was not, with this secret and for this purpose, or was changed since. */
export function decrypt(purpose: string, sealed: string, secret: Buffer): string | null {
  if (sealed.length > MAX_SEALED || !/^v1\.[\w-]{38,}$/.test(sealed)) return null;
  const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url');
  // One text for each: bits behind the last byte would be anybody's.
  if (!sealed.endsWith(bytes.toString('base64url'))) return null;
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(-TAG_BYTES)];
  const decipher = createDecipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(boundTo(purpose)).setAuthTag(tag);
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString();
  } catch {
    return null;
  }
}

function boundTo(purpose: string): Buffer {
  return Buffer.from(`petgate ${VERSION} ${purpose}`);
}
