import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';

/** The port of a process that listens and takes nothing, with no room left to wait in. */
export async function fullPort(t: Test): Promise<number> {
  const script =
    "require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { " +
    "require('fs').writeSync(1, String(this.address().port)); Atomics.wait(new Int32Array(new " +
    'SharedArrayBuffer(4)), 0, 0); })';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  for (let taken = true; taken;) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    t.teardown(() => socket.destroy());
    taken = await Promise.race([once(socket, 'connect').then(() => true), sleep(300).then(() => false)]);
  }
  return port;
}
