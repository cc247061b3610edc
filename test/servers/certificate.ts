import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, type Teardown } from './program.js';

/** A certificate that vouches for itself, with its key, in two files. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
  readonly serial: string;
  /** PEM; who trusts it trusts this certificate. */
  readonly ca: string;
}

interface Wish {
  /** Given to `openssl -newkey`. */
  readonly algorithm?: string;
  /** When it begins and ends, unix ms; from now on for a year when left out. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly passphrase?: string;
  /** What it is for, as openssl writes it. */
  readonly names?: string;
}

const YEAR_MS = 365 * 86_400_000;
const CA = `[ca]
default_ca = own
[own]
database = db
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = any
x509_extensions = names
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = none
[none]
[names]
subjectAltName = NAMES
basicConstraints = critical, CA:TRUE
`;

/** Has openssl make `<name>.crt` and `<name>.key` in `folder`, for localhost and 127.0.0.1 unless others are named. */
export function issueCertificate(
  folder: string,
  name: string,
  {
    algorithm = 'ec:P-256',
    fromMs = Date.now() - 60_000,
    toMs = Date.now() + YEAR_MS,
    passphrase,
    names = 'DNS:localhost, IP:127.0.0.1',
  }: Wish = {},
): Issued {
  const work = join(folder, `.openssl-${name}`);
  mkdirSync(work);
  writeFileSync(join(work, 'ca.cnf'), CA.replace('NAMES', names));
  writeFileSync(join(work, 'db'), '');
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { cwd: work, stdio: 'pipe' });
  const [kind = '', curve] = algorithm.split(':');
  const newKey =
    kind === 'ec' ? ['-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve ?? ''}`] : ['-newkey', algorithm];
  openssl(
    'req',
    '-config',
    'ca.cnf',
    '-new',
    ...newKey,
    ...(passphrase === undefined ? ['-nodes'] : ['-passout', `pass:${passphrase}`]),
    '-keyout',
    key,
    '-out',
    'request',
    '-subj',
    `/CN=${name}`,
  );
  const secret = passphrase === undefined ? [] : ['-passin', `pass:${passphrase}`];
  openssl(
    'ca',
    '-config',
    'ca.cnf',
    '-batch',
    '-notext',
    '-selfsign',
    '-in',
    'request',
    '-keyfile',
    key,
    ...secret,
    '-startdate',
    stamp(fromMs),
    '-enddate',
    stamp(toMs),
    '-out',
    cert,
  );
  const ca = readFileSync(cert, 'utf8');
  return { cert, key, ca, serial: new X509Certificate(ca).serialNumber };
}

/** One of a test's own, in a folder that goes with it. */
export function ownCertificate(t: Teardown): Issued {
  return issueCertificate(temporaryFolder(t), 'own');
}

/** As servers take it. */
export function pemOf({ cert, key }: Issued): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

/** As openssl wants a time: 20261121164200Z. */
function stamp(atMs: number): string {
  return `${new Date(atMs).toISOString().replace(/[-:T]|\.\d+Z/g, '')}Z`;
}
