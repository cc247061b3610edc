import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { untilTrue } from './gateway.mjs';

/** Starts a server, and gives its address once it answers; it ends with the program. */
export async function startServer({ folder, environment, onEnd }, command, argumentsFor) {
  const port = await freePort();
  const child = spawn(command, argumentsFor(port), {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => (output = (output + piece).slice(-2_000)));
  let problem = null;
  child.on('error', (error) => (problem = error));
  onEnd(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null && problem === null) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  await untilTrue(async () => {
    if (problem !== null || child.exitCode !== null) throw new Error(`${command} ended: ${problem?.message ?? output}`);
    return fetch(url).then(
      () => true,
      () => false,
    );
  });
  return url;
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
