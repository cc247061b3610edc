import { X509Certificate } from 'node:crypto';
import { readCertificate, readWhole } from './certificate.js';
import { pathAt, problemAt, type Layers } from './files/layers.js';
import type { Problem } from './files/problem.js';
import type { SecretSource } from './schema/authorization.js';
import type { GatewayFile } from './schema/gateway.js';
import type { UpstreamContents, UpstreamSecret } from './schema/upstream.js';

export interface UpstreamFiles {
  /** By name of the upstream. */
  readonly contents: ReadonlyMap<string, UpstreamContents>;
  /** Paths of the files. */
  readonly paths: readonly string[];
}

/** If no connections will be made. */
export const UNREAD: UpstreamFiles = { contents: new Map(), paths: [] };

/** Reports a problem below the setting of an upstream. */
type Refuse = (setting: readonly string[], message: string) => null;

const MAX_SECRET_BYTES = 8 * 1024;
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Reads all of them once, so that the checked contents are used. Collects problems. */
export function readUpstreamFiles(
  gateway: Layers,
  { upstreams }: GatewayFile,
  environment: NodeJS.ProcessEnv,
  problems: Problem[],
): UpstreamFiles {
  const paths: string[] = [];
  const contents = Object.entries(upstreams).map(([name, { authorization }]): [string, UpstreamContents] => {
    const fileOf = (...setting: readonly string[]): string | null => {
      const path = pathAt(gateway, ['upstreams', name, ...setting]);
      if (path !== null) paths.push(path);
      return path;
    };
    const refuse: Refuse = (setting, message) => {
      problems.push(problemAt(gateway, ['upstreams', name, ...setting], message));
      return null;
    };
    const tls = readTls(fileOf('ca'), fileOf('cert'), fileOf('key'), refuse);
    if (typeof authorization !== 'object') return [name, { tls, secret: null }];
    const text = readSecret(authorization, fileOf('authorization', 'file'), environment, refuse);
    return [name, { tls, secret: text === null ? null : secretOf(authorization, text, refuse) }];
  });
  return { contents: new Map(contents), paths };
}

function readTls(ca: string | null, cert: string | null, key: string | null, refuse: Refuse): UpstreamContents['tls'] {
  // An expired one does not prevent the start: there may be other upstreams, and this one will refuse it.
  const own =
    cert === null || key === null
      ? null
      : readCertificate({ cert, key }, (part, message) => void refuse([part], message), 'ended too');
  const pem = own?.pem();
  return {
    ca: ca === null ? null : readAuthorities(ca, (message) => refuse(['ca'], `${ca}: ${message}`)),
    cert: pem?.cert.toString('latin1') ?? null,
    key: pem?.key.toString('latin1') ?? null,
  };
}

/** Node would ignore anything else, and then trust no issuer. */
function readAuthorities(path: string, refuse: (message: string) => null): string | null {
  const pem = readWhole(path, refuse)?.toString('latin1');
  if (pem === undefined) return null;
  const found = pem.match(CERTIFICATES) ?? [];
  try {
    for (const each of found) new X509Certificate(each);
  } catch {
    return refuse('one of its certificates is damaged; write the file again');
  }
  return found.length > 0
    ? found.join('\n')
    : refuse('no certificate in PEM form (-----BEGIN CERTIFICATE-----); name another file');
}

/** Trims ASCII whitespace. */
function readSecret(
  { variable }: SecretSource,
  path: string | null,
  environment: NodeJS.ProcessEnv,
  refuse: Refuse,
): string | null {
  const setting = ['authorization', path === null ? 'variable' : 'file'];
  const source = path ?? variable ?? '';
  const given =
    path === null
      ? environment[source]
      : readWhole(path, (message) => refuse(setting, `${path}: ${message}`))?.toString('utf8');
  if (given === undefined) {
    if (path === null) refuse(setting, `${source} is not set; set it where the gateway runs`);
    return null;
  }
  const text = given.replace(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, '');
  if (text === '') return refuse(setting, `${source} is empty; put the secret there`);
  return Buffer.byteLength(text) > MAX_SECRET_BYTES ? refuse(setting, `${source} is too long for a secret`) : text;
}

function secretOf({ scheme, header }: SecretSource, text: string, refuse: Refuse): UpstreamSecret | null {
  const wrong = (must: string): null => refuse(['authorization'], `the secret must be ${must}; it is not shown`);
  if (header !== undefined)
    return /^[\x20-\x7e]+$/.test(text)
      ? { header, credential: text, secrets: [text, ...text.split(' ').slice(1)] }
      : wrong('visible ASCII characters in one line');
  if (scheme === 'basic') {
    if (!/^[^:\p{Cc}]*:\P{Cc}*$/u.test(text)) return wrong('user:password in one line');
    const word = Buffer.from(text).toString('base64');
    return {
      header: 'Authorization',
      credential: `Basic ${word}`,
      secrets: [word, text, text.slice(text.indexOf(':') + 1)],
    };
  }
  return /^[\x21-\x7e]+$/.test(text)
    ? { header: 'Authorization', credential: `Bearer ${text}`, secrets: [text] }
    : wrong('visible ASCII characters without blanks, and without "Bearer" before them');
}
