import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from './server.mjs';

const MODULES = '/usr/lib/apache2/modules';

export function apache(place, more) {
  const modules = ['mpm_event', 'authz_core', 'alias', 'env', 'cgid', 'dir', 'dav', 'dav_fs', 'mime', 'setenvif'];
  const config = join(place.folder, 'apache.conf');
  const www = join(place.folder, 'www');
  mkdirSync(www, { recursive: true });
  return startServer(place, 'apache2', (port) => {
    const lines = [
      ...modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
      `Listen 127.0.0.1:${port}`,
      `ServerName localhost`,
      `ServerRoot ${place.folder}`,
      `PidFile ${place.folder}/apache.pid`,
      `ScriptSock ${place.folder}/cgid.sock`,
      `ErrorLog ${place.folder}/error.log`,
      `DavLockDB ${place.folder}/davlock`,
      `User ${process.env.USER ?? 'nobody'}`,
      `DocumentRoot ${www}`,
      'TypesConfig /dev/null',
      ...more,
    ];
    writeFileSync(config, lines.join('\n'));
    return ['-X', '-f', config];
  });
}

export function nginx(place, bytes) {
  const www = join(place.folder, 'www');
  mkdirSync(www, { recursive: true });
  writeFileSync(join(www, 'file'), Buffer.alloc(bytes, 'petgate '));
  const config = join(place.folder, 'nginx.conf');
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((kind) => `${kind}_temp_path ${place.folder}/${kind};`);
  return startServer(place, 'nginx', (port) => {
    writeFileSync(
      config,
      `daemon off; master_process off; error_log stderr; pid ${place.folder}/nginx.pid; events {}
http { access_log off; ${temporary.join(' ')}
server { listen 127.0.0.1:${port}; root ${www}; } }`,
    );
    return ['-c', config];
  });
}
