import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from './server.mjs';

const SCRIPTS = fileURLToPath(new URL('scripts/', import.meta.url));
const S3 = { credentials: [{ header: 'X-API-Key' }], upstream: { host: 'client', authorization: 'client' } };

/** Server and client of npm's packages: `NAME-server.cjs` and `NAME-client.cjs` in the folder scripts. */
function pair(script, name, npm, more = {}) {
  const withPackages = ({ npm: folder, environment }) => ({ ...environment, NODE_PATH: join(folder, 'node_modules') });
  return {
    name,
    settings: 'none',
    npm,
    serve: (place) =>
      startServer({ ...place, environment: withPackages(place) }, process.execPath, (port) => [
        join(SCRIPTS, `${script}-server.cjs`),
        String(port),
        join(place.folder, 'files'),
      ]),
    use: ({ run, url, key, ...place }) =>
      run(process.execPath, [join(SCRIPTS, `${script}-client.cjs`)], {
        env: { ...withPackages(place), URL_: url, KEY: key },
      }),
    ...more,
  };
}

export const NPM = [
  {
    name: 'Verdaccio + npm: publish, install',
    settings: 'none',
    npm: ['verdaccio@5.33.0'],
    serve: (place) => {
      const config = join(place.folder, 'verdaccio.yaml');
      writeFileSync(
        config,
        [
          `storage: ${place.folder}/packages`,
          'uplinks: {}',
          "packages: { '**': { access: $all, publish: $all } }",
          'log: { type: stdout, level: error }',
        ].join('\n'),
      );
      const main = join(place.npm, 'node_modules/verdaccio/bin/verdaccio');
      return startServer(place, process.execPath, (port) => [main, '-c', config, '-l', `127.0.0.1:${port}`]);
    },
    async use({ url, host, key, run, folder }) {
      const env = {
        npm_config_userconfig: join(folder, 'npmrc'),
        npm_config_registry: `${url}/`,
        npm_config_cache: join(folder, 'cache'),
      };
      writeFileSync(env.npm_config_userconfig, `//${host}/:_authToken=${key}\n`);
      mkdirSync(join(folder, 'package'));
      mkdirSync(join(folder, 'user'));
      writeFileSync(join(folder, 'package/package.json'), '{"name":"petgate-sample","version":"1.0.0"}');
      writeFileSync(join(folder, 'user/package.json'), '{"private":true}');
      await run('npm', ['publish'], { cwd: join(folder, 'package'), env });
      await run('npm', ['install', '--no-audit', 'petgate-sample'], { cwd: join(folder, 'user'), env });
    },
  },
  pair(
    's3',
    'S3 server + @aws-sdk/client-s3: put, list, get, multipart',
    ['s3rver@3.7.1', '@aws-sdk/client-s3@3.1175.0'],
    {
      settings: 'credentials: [{ header: X-API-Key }]; upstream: { host: client, authorization: client }',
      config: S3,
    },
  ),
  pair('socket-io', 'socket.io: polling, then WebSocket', ['socket.io@4.8.4', 'socket.io-client@4.8.4']),
  pair('ws', 'ws: frames of 10 MB both ways', ['ws@8.23.0']),
  pair('yoga', 'graphql-yoga: query, error, subscription as events', ['graphql-yoga@5.24.1', 'graphql@16']),
];
