/**
 * What is measured beside Petgate is no part of it: Debian's packages, and packages of npm in a folder of
 * their own below `dist`. What can't be had is left out of the bench, and named there.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../runner/needs.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const there = fileURLToPath(new URL('../../../dist/bench-peers/', import.meta.url));
const STAMP = join(there, 'node_modules', '.installed');

const DEBIAN = [
  { file: '/usr/sbin/nginx', package: 'nginx' },
  { file: '/usr/lib/nginx/modules/ngx_http_lua_module.so', package: 'libnginx-mod-http-lua' },
  { file: '/usr/share/lua/5.1/resty/core.lua', package: 'lua-resty-core' },
  { file: '/usr/bin/wrk', package: 'wrk' },
  { file: '/usr/bin/h2load', package: 'nghttp2-client' },
];

export function installPeers() {
  const missing = DEBIAN.filter(({ file }) => !existsSync(file)).map((need) => need.package);
  if (missing.length > 0)
    attempt(`installing ${missing.join(', ')} from Debian's packages`, () => installPackages(missing));
  mkdirSync(there, { recursive: true });
  for (const file of readdirSync(here).filter((name) => /\.(mjs|json)$/.test(name)))
    copyFileSync(join(here, file), join(there, file));
  const wanted = readFileSync(join(here, 'package-lock.json'), 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  attempt('installing the peers of Node', () => {
    const { status, stderr } = spawnSync(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      { cwd: there, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(stderr);
    writeFileSync(STAMP, wanted);
  });
}

function attempt(what, install) {
  console.error(what);
  try {
    install();
  } catch (error) {
    console.error(`${error.message}\nThe bench leaves out what needs it.`);
  }
}
