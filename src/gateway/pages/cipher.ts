import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Maximum length of an encrypted text: browsers send it with each request. */
export const MAX_SEALED = 1024;

/**
 * Returns `v1.` and the base64url of nonce, ciphertext and tag (AES-256-GCM). Version and purpose are authenticated: a
 * text encrypted for one purpose cannot be decrypted for another. Throws RangeError if the result is too long.
 */
export function encrypt(purpose: string, text: string, secret: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, secret, nonce, { authTagLength: TAG_BYTES }).setAAD(boundTo(purpose));
  const bytes = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  const sealed = `${VERSION}.${bytes.toString('base64url')}`;
  if (sealed.length > MAX_SEALED) throw new RangeError(`A sealed text has ${MAX_SEALED} characters at most.`);
  return sealed;
}

/** Returns the text; null if it was not encrypted with this secret for this purpose, or has been changed. */
export function decrypt(purpose: string, sealed: string, secret: Buffer): string | null {
  if (sealed.length > MAX_SEALED || !/^v1\.[\w-]{38,}$/.test(sealed)) return null;
  const bytes = Buffer.from(sealed.slice(VERSION.length + 1), 'base64url');
  // Accept only one spelling: base64url ignores unused bits of the last character, which anyone could change.
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
