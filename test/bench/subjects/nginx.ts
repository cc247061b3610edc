import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../../src/shared/package-root.js';
import { freePort } from '../../servers/free-port.js';
import { until } from '../../servers/until.js';
import type { Place, Started } from './subject.js';

const LUA = join(packageRoot, 'test/bench/peers');
const NEEDED = [
  '/usr/sbin/nginx',
  '/usr/lib/nginx/modules/ngx_http_lua_module.so',
  '/usr/share/lua/5.1/resty/core.lua',
];

/** nginx with Lua: one process that serves, and one above it. */
export async function startNginx({ folder, upstream, redis, tls }: Place): Promise<Started> {
  const missing = NEEDED.filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new Error(`${missing.join(', ')} missing: apt-get install nginx libnginx-mod-http-lua lua-resty-core`);
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const values: Record<string, string> = {
    FOLDER: folder,
    LUA,
    UPSTREAM: String(upstream.port),
    PORT: String(port),
    TLS: tls === undefined ? '' : 'ssl http2',
    CERTIFICATE: tls === undefined ? '' : `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key};`,
  };
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    readFileSync(join(LUA, 'nginx.conf'), 'utf8').replace(
      /@([A-Z]+)@/g,
      (whole, name: string) => values[name] ?? whole,
    ),
  );
  const child = spawn('/usr/sbin/nginx', ['-p', folder, '-c', file], {
    env: { REDIS_PORT: String(redis.port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  process.once('exit', () => child.kill());
  await until('nginx serves', async () => child.exitCode !== null || (await accepts(port)));
  if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
  return { child, port };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
