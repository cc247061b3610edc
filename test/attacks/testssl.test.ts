import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { issueCertificate } from '../servers/certificate.js';
import { startGateway } from '../servers/gateway.js';
import { temporaryFolder } from '../servers/program.js';

interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

/** Longer than on a machine with ten times its work; shorter than a test file may take. */
const MAX_MS = 500_000;
/** Nothing to worry about; `WARN` speaks of the tool itself. */
const FINE = new Set(['OK', 'INFO', 'WARN', 'DEBUG']);
/**
 * Protocols, cipher lists, forward secrecy, renegotiation: what the gateway chooses. The attacks on old protocols and
 * export ciphers need what the first two do not find.
 */
const SECTIONS = ['-p', '-s', '-f', '-R', '-W', '-L', '-4'];

/** What testssl.sh, from Debian, says of this port. */
async function inspect(port: number, folder: string): Promise<readonly Finding[]> {
  const file = join(folder, 'testssl.json');
  const args = [
    '--quiet',
    '--warnings',
    'off',
    '--color',
    '0',
    '--nodns',
    'none',
    ...SECTIONS,
    '--jsonfile',
    file,
    `127.0.0.1:${port}`,
  ];
  // Its exit code counts findings; what it found stands in the file, which is whole once it has ended.
  const said = await new Promise<string>((resolve) =>
    execFile('testssl', args, { timeout: MAX_MS, maxBuffer: 16 * 1024 * 1024 }, (error, stdout) =>
      resolve(error?.killed === true ? `killed: ${stdout}` : stdout),
    ),
  );
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as readonly Finding[];
  } catch (error) {
    throw new Error(`testssl did not finish: ${said}`, { cause: error });
  }
}

t.test('testssl.sh finds nothing to report of TLS 1.2 and 1.3 as they are offered', async (t) => {
  const folder = temporaryFolder(t);
  const gateway = await startGateway(t, { tls: issueCertificate(folder, 'own') });
  const findings = await inspect(gateway.port, folder);
  t.same(
    findings.filter(({ severity }) => !FINE.has(severity)),
    [],
  );
  const severityOf = (id: string): string | undefined => findings.find((finding) => finding.id === id)?.severity;
  for (const id of [
    'SSLv3',
    'TLS1_2',
    'TLS1_3',
    'cipherlist_NULL',
    'cipherlist_STRONG',
    'PFS',
    'SWEET32',
    'LUCKY13',
    'RC4',
  ])
    t.equal(severityOf(id), 'OK', `${id} was looked at, and is well`);
});
