import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';

/** Paths of two PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** A valid certificate with its key. Printing or serializing it does not show the key. */
export class Certificate {
  /** Hexadecimal; identifies the certificate. */
  readonly serial: string;
  /** Unix ms; clients refuse it after that. */
  readonly notAfterMs: number;
  readonly #cert: Buffer;
  readonly #key: Buffer;

  constructor(cert: Buffer, key: Buffer) {
    const first = new X509Certificate(cert);
    this.serial = first.serialNumber;
    this.notAfterMs = Date.parse(first.validTo);
    this.#cert = cert;
    this.#key = key;
  }

  /** For the log. */
  summary(): { readonly serial: string; readonly notAfter: string } {
    return { serial: this.serial, notAfter: new Date(this.notAfterMs).toISOString() };
  }

  /** For node:tls only. */
  pem(): { readonly cert: Buffer; readonly key: Buffer } {
    return { cert: this.#cert, key: this.#key };
  }
}

/** What is wrong with one of the files, and what to do. */
type Report = (part: keyof TlsFiles, message: string) => void;

/**
 * Reads both files once, so that the checked contents are served. Reports all errors; returns null if there are any.
 */
export function readCertificate(
  files: TlsFiles,
  report: Report,
  accepted: 'valid now' | 'ended too' = 'valid now',
): Certificate | null {
  const faults: string[] = [];
  const refuse =
    (part: keyof TlsFiles): Refuse =>
    (message) => {
      faults.push(message);
      report(part, `${files[part]}: ${message}`);
      return null;
    };
  const cert = readWhole(files.cert, refuse('cert'));
  const key = readWhole(files.key, refuse('key'));
  const first =
    cert &&
    parse(
      () => new X509Certificate(cert),
      () => refuse('cert')(NO_CERTIFICATE),
    );
  const secret =
    key &&
    parse(
      () => createPrivateKey(key),
      () => refuse('key')(keyAdvice(key)),
    );
  if (first && accepted === 'valid now') checkTime(first, Date.now(), refuse('cert'));
  if (first && secret) checkPair(first, secret, files, refuse('key'));
  if (!cert || !key || faults.length > 0) return null;
  // TLS has its own rules, such as the minimum key size.
  return parse(
    () => {
      createSecureContext({ cert, key });
      return new Certificate(cert, key);
    },
    (code) => refuse('cert')(`not accepted by TLS (${code}); have a new certificate made`),
  );
}

const NO_CERTIFICATE =
  'no certificate in PEM form (-----BEGIN CERTIFICATE-----); name the file with the certificate, followed by those ' +
  'that signed it';

type Refuse = (message: string) => null;

/** Reads a file; returns null and reports why if it cannot be read. */
export function readWhole(path: string, refuse: Refuse): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    const advice = new Map([
      ['ENOENT', 'no such file; put it there, or correct the path'],
      ['EISDIR', 'this is a folder; name a file'],
      ['EACCES', 'no permission to read it; give it to the user the gateway runs as'],
    ]);
    return refuse(advice.get(code) ?? `cannot be read (${code})`);
  }
}

/** Uses only OpenSSL's `code`, not its message, which could contain part of a key. */
function parse<T>(read: () => T, refuse: (code: string) => null): T | null {
  try {
    return read();
  } catch (error) {
    return refuse((error as NodeJS.ErrnoException).code ?? 'unknown reason');
  }
}

function keyAdvice(key: Buffer): string {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(key.toString('latin1')))
    return "the key has a passphrase; store it without one, readable only by the gateway's user";
  return 'no private key in PEM form (-----BEGIN PRIVATE KEY-----); name the file with the key of the certificate';
}

function checkTime({ validFrom, validTo }: X509Certificate, nowMs: number, refuse: Refuse): void {
  if (Date.parse(validTo) <= nowMs) refuse(`the certificate ended on ${validTo}; put a renewed one there`);
  else if (Date.parse(validFrom) > nowMs)
    refuse(`the certificate is not valid before ${validFrom}; use one that is valid now, or correct the clock`);
}

function checkPair(certificate: X509Certificate, key: KeyObject, { cert }: TlsFiles, refuse: Refuse): void {
  if (!certificate.checkPrivateKey(key))
    refuse(`this key does not belong to the certificate in ${cert}; put both there from the same renewal`);
}
