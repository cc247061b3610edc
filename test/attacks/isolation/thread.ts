import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { Target } from '../../servers/dial.js';
import { FLOODS } from './floods.js';
import { ORDINARY, THINGS, type Thing } from './things.js';

/** A thread that does one hostile thing until it is ended: the test's own loop stays free to measure. */
const { name, target, key } = workerData as { name: string; target: Target; key: string };
/** A connection that hears nothing is given up and opened again. */
const PATIENCE_MS = 500;
const CONNECTIONS = 16;

function run(port: number, { bytes, connections = CONNECTIONS, holds = false, then }: Thing): void {
  const data = Buffer.from(bytes.replaceAll('{key}', key), 'latin1');
  const open = (): void => {
    const socket: Socket = connect(port, '127.0.0.1');
    const again = (): void => void setImmediate(open);
    socket.on('error', () => undefined).on('close', again);
    socket.on('connect', () => {
      if (holds) socket.pause();
      socket.write(data);
      if (then === 'close') socket.destroy();
      else if (then === 'reset') socket.resetAndDestroy();
      else if (then === 'end') socket.end();
    });
    if (holds) return;
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('data', () => socket.write(data));
  };
  for (let n = 0; n < connections; n += 1) open();
}

const thing = name === 'ordinary' ? ORDINARY : THINGS[name];
if (thing !== undefined && typeof target === 'number') run(target, thing);
else void FLOODS[name]!(target, key);
parentPort?.postMessage('begun');
