import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { temporaryFolder, type Teardown } from './program.js';
import { startTool } from './tool.js';

/**
 * A real HAProxy that passes TCP on from a free port of 127.0.0.1 to the gateway; gives its port. Ends with the test.
 * @param server what stands behind the gateway's address in the `server` line, such as `send-proxy`
 * @param lines further ones of its `listen` section
 */
export async function startHaproxy(
  t: Teardown,
  gatewayPort: number,
  server: string,
  lines: readonly string[] = [],
): Promise<number> {
  const port = await freePort();
  const file = join(temporaryFolder(t), 'haproxy.cfg');
  writeFileSync(
    file,
    [
      'defaults',
      '  mode tcp',
      '  timeout connect 10s',
      '  timeout client 10s',
      '  timeout server 10s',
      'listen front',
      `  bind 127.0.0.1:${port}`,
      ...lines.map((line) => `  ${line}`),
      `  server gateway 127.0.0.1:${gatewayPort} ${server}`,
      '',
    ].join('\n'),
  );
  await startTool(
    t,
    'haproxy',
    ['-db', '-f', file],
    () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.destroy();
          resolve(true);
        });
        socket.on('error', () => resolve(false));
      }),
  );
  return port;
}
