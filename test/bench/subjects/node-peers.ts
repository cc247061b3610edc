import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../src/shared/package-root.js';
import type { Issued } from '../../servers/certificate.js';
import type { Place, Started } from './subject.js';

/** Where `npm run bench` installs the peers of Node: the product's own packages stay as they are. */
const PEERS = join(packageRoot, 'dist/bench-peers');

export const startUpstream = (tls?: Issued): Promise<Started> =>
  startScript(fileURLToPath(new URL('upstream.js', import.meta.url)), filesOf(tls));
export const startBare = (place: Place): Promise<Started> =>
  startScript(fileURLToPath(new URL('../peers/bare.js', import.meta.url)), environmentOf(place));
export const startFastify = (place: Place): Promise<Started> => startPeer('fastify', place);
export const startExpress = (place: Place): Promise<Started> => startPeer('express', place);

function startPeer(name: string, place: Place): Promise<Started> {
  const script = join(PEERS, `${name}.mjs`);
  if (!existsSync(script)) throw new Error('its packages are not installed: npm run bench does that');
  return startScript(script, environmentOf(place));
}

function environmentOf({ upstream, redis, tls }: Place): Record<string, string> {
  return {
    UPSTREAM_PORT: String(upstream.port),
    ...(upstream.ca === undefined ? {} : { UPSTREAM_CA: upstream.ca }),
    REDIS_PORT: String(redis.port),
    NODE_ENV: 'production',
    ...filesOf(tls),
  };
}

function filesOf(tls: Issued | undefined): Record<string, string> {
  return tls === undefined ? {} : { TLS_CERT: tls.cert, TLS_KEY: tls.key };
}

/** Runs a script that tells its port. */
async function startScript(path: string, environment: Record<string, string>): Promise<Started> {
  const child = fork(path, { env: { PATH: process.env['PATH'] ?? '', ...environment } });
  const [port] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (child.exitCode !== null || child.signalCode !== null || typeof port !== 'number')
    throw new Error(`${path} ended before it served`);
  return { child, port };
}
