import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.js';
import { temporaryFolder, type Teardown } from './program.js';
import { startTool } from './tool.js';

/**
 * A real PgBouncer in transaction mode in front of the database at `url`; gives the URL by way of it. Ends with the
 * test.
 */
export async function startPgbouncer(t: Teardown, url: string): Promise<string> {
  const [target, port] = [new URL(url), await freePort()];
  const folder = temporaryFolder(t);
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(join(folder, 'users.txt'), `"${target.username}" ""\n`);
  writeFileSync(
    file,
    [
      '[databases]',
      `* = host=${target.hostname} port=${target.port} user=${target.username}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(folder, 'users.txt')}`,
      'pool_mode = transaction',
      '',
    ].join('\n'),
  );
  const through = new URL(url);
  through.port = String(port);
  const isReady = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: through.href });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return true;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  // It refuses to run as root.
  const asUser = process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  chmodSync(folder, 0o755);
  const [command, ...args] = [...asUser, 'pgbouncer', '-q', file];
  await startTool(t, command, args, isReady);
  return through.href;
}
