import { join } from 'node:path';
import { readVariable } from '../../shared/names/variables.js';
import { readSecretFile } from '../../shared/files/secret-file.js';
import { CommandError } from '../terminal/command-error.js';

/** URL and token of the admin API. */
export interface AdminAddress {
  readonly url: URL;
  /** Where the token came from, for messages. */
  readonly tokenSource: string;
  readonly token: string;
}

/**
 * Finds the admin API: `adminUrl`, else the configured listener. The token comes from PETGATE_ADMIN_TOKEN, else from
 * the gateway's data folder; never from the command line, which `ps` shows. Throws CommandError without a token.
 */
export async function findAdmin(environment: NodeJS.ProcessEnv, adminUrl: string | undefined): Promise<AdminAddress> {
  const given = readVariable(environment, 'PETGATE_ADMIN_TOKEN');
  if (adminUrl !== undefined && given !== '')
    return { url: readUrl(adminUrl), token: given, tokenSource: 'PETGATE_ADMIN_TOKEN' };
  // Imported only here: reading the configuration takes most of a short command's time.
  const { loadSettings } = await import('../../gateway/config/load.js');
  const { admin, data } = loadSettings(environment);
  const url = adminUrl === undefined ? new URL(`http://${dialed(admin.host)}:${admin.port}`) : readUrl(adminUrl);
  if (given !== '') return { url, token: given, tokenSource: 'PETGATE_ADMIN_TOKEN' };
  return { url, token: readToken(data), tokenSource: join(data, 'admin-token') };
}

/** Returns the host to dial for a listener on `host`: loopback if it listens everywhere. IPv6 is in brackets. */
export function dialed(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function readToken(folder: string): string {
  const token = readSecretFile(folder, 'admin-token', 'PETGATE_ADMIN_TOKEN') ?? '';
  if (token !== '') return token;
  throw new CommandError(
    `There is no admin token: ${join(folder, 'admin-token')} does not exist and PETGATE_ADMIN_TOKEN is not set.\nRun ` +
      'the command in the folder the gateway was started in, or set PETGATE_DATA to its data folder.',
  );
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url !== undefined &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === ''
  )
    return url;
  throw new CommandError('--admin-url must be like http://127.0.0.1:9090, without a user or password in it.', 2);
}
