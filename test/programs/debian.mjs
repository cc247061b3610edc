import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeImage } from './image.mjs';
import { startServer } from './server.mjs';
import { apache, nginx } from './servers.mjs';

const SCRIPTS = fileURLToPath(new URL('scripts/', import.meta.url));
const BASIC = { credentials: ['bearer', { basic: 'password' }] };
const BASIC_WORDS = 'credentials: [bearer, { basic: password }]';

/** Programs of Debian. `debian`: packages, and a file of each: absolute where it is used as it is installed. */
export const DEBIAN = [
  {
    name: 'Apache + git: clone, push, ls-remote',
    settings: BASIC_WORDS,
    debian: [
      ['apache2', '/usr/sbin/apache2'],
      ['git', '/usr/bin/git'],
    ],
    config: BASIC,
    async serve(place) {
      await place.run('git', ['init', '-q', '--bare', 'repository.git']);
      await place.run('git', ['-C', 'repository.git', 'config', 'http.receivepack', 'true']);
      return apache(place, [
        `SetEnv GIT_PROJECT_ROOT ${place.folder}`,
        'SetEnv GIT_HTTP_EXPORT_ALL 1',
        'ScriptAlias /git/ /usr/lib/git-core/git-http-backend/',
      ]);
    },
    async use({ host, key, run, folder }) {
      const remote = `http://any:${key}@${host}/git/repository.git`;
      const git = (...args) => run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
      await git('clone', '-q', remote, 'work');
      writeFileSync(
        join(folder, 'work/large'),
        Buffer.alloc(3_000_000, 'x').map((_, n) => n * 7919),
      );
      await git('-C', 'work', 'add', '.');
      await git('-C', 'work', 'commit', '-qm', 'one');
      await git('-C', 'work', 'push', '-q', 'origin', 'HEAD:main');
      for (let n = 0; n < 10; n += 1) await git('ls-remote', '-q', remote);
      await git('clone', '-q', '-b', 'main', remote, 'again');
    },
  },
  {
    name: 'Apache DAV + rclone: copy, move, list, delete',
    settings: BASIC_WORDS,
    debian: [
      ['apache2', '/usr/sbin/apache2'],
      ['rclone', 'usr/bin/rclone'],
    ],
    config: BASIC,
    serve: (place) =>
      apache(place, [`<Directory ${place.folder}/www>`, 'Dav On', 'Require all granted', '</Directory>']),
    async use({ url, key, run, folder }) {
      mkdirSync(join(folder, 'files/a'), { recursive: true });
      for (const name of ['one', 'a/two']) writeFileSync(join(folder, 'files', name), name.repeat(1000));
      const password = (await run('rclone', ['obscure', key])).trim();
      const env = { RCLONE_CONFIG: join(folder, 'rclone.conf') };
      writeFileSync(
        env.RCLONE_CONFIG,
        `[d]\ntype = webdav\nurl = ${url}\nvendor = other\nuser = any\npass = ${password}\n`,
      );
      const rclone = (...args) => run('rclone', args, { env });
      await rclone('copy', 'files', 'd:up');
      await rclone('moveto', 'd:up/one', 'd:up/three');
      const listed = await rclone('lsf', '-R', 'd:up');
      if (!listed.includes('three') || !listed.includes('a/two')) throw new Error(`listed: ${listed}`);
      await rclone('purge', 'd:up');
    },
  },
  {
    name: 'docker-registry + skopeo: push and pull an image',
    settings: BASIC_WORDS,
    debian: [
      ['docker-registry', 'usr/bin/docker-registry'],
      ['skopeo', 'usr/bin/skopeo'],
    ],
    config: BASIC,
    serve: (place) =>
      startServer(place, 'docker-registry', (port) => {
        const config = join(place.folder, 'registry.yml');
        writeFileSync(
          config,
          [
            'version: 0.1',
            'log: { level: error }',
            `storage: { filesystem: { rootdirectory: ${place.folder}/images } }`,
            `http: { addr: '127.0.0.1:${port}' }`,
          ].join('\n'),
        );
        return ['serve', config];
      }),
    async use({ host, key, run, folder }) {
      writeImage(join(folder, 'image'));
      const skopeo = (from, to, side) =>
        run('skopeo', [
          '--insecure-policy',
          'copy',
          `--${side}-tls-verify=false`,
          `--${side}-creds`,
          `any:${key}`,
          from,
          to,
        ]);
      await skopeo('oci:image:latest', `docker://${host}/app:1`, 'dest');
      await skopeo(`docker://${host}/app:1`, 'oci:back:latest', 'src');
    },
  },
  {
    name: 'Mercurial: clone, push, pull',
    settings: BASIC_WORDS,
    debian: [['mercurial', 'usr/bin/hg']],
    config: BASIC,
    async serve(place) {
      await place.run('hg', ['init', 'origin']);
      const options = ['--config', 'web.push_ssl=false', '--config', 'web.allow_push=*'];
      return startServer(place, 'hg', (port) => [
        '-R',
        'origin',
        'serve',
        '-a',
        '127.0.0.1',
        '-p',
        String(port),
        ...options,
      ]);
    },
    async use({ host, key, run, folder }) {
      const remote = `http://any:${key}@${host}/`;
      await run('hg', ['clone', '-q', remote, 'work']);
      writeFileSync(join(folder, 'work/file'), 'x'.repeat(100_000));
      await run('hg', ['-R', 'work', 'commit', '-qAm', 'one', '-u', 'a']);
      await run('hg', ['-R', 'work', 'push', '-q', remote]);
      await run('hg', ['clone', '-q', remote, 'again']);
    },
  },
  {
    name: 'nginx + curl, wget, aria2: ranges, resumed and parallel downloads',
    settings: 'none',
    debian: [
      ['nginx', '/usr/sbin/nginx'],
      ['wget', '/usr/bin/wget'],
      ['aria2', 'usr/bin/aria2c'],
    ],
    commands: ['curl'],
    serve: (place) => nginx(place, 20_000_000),
    async use({ url, key, run }) {
      const field = `Authorization: Bearer ${key}`;
      await run('curl', ['-sf', '-H', field, '-r', '0-999999', '-o', 'part', `${url}/file`]);
      await run('curl', ['-sf', '-H', field, '-C', '-', '-o', 'part', `${url}/file`]);
      await run('cmp', ['part', 'www/file']);
      await run('wget', ['-q', `--header=${field}`, '-O', 'wget', `${url}/file`]);
      await run('aria2c', ['-q', '-x4', '-k1M', `--header=${field}`, '-o', 'aria', `${url}/file`]);
      await run('cmp', ['aria', 'www/file']);
    },
  },
  {
    name: 'nginx + Java HttpClient: h2c offered with every request',
    settings: 'none',
    debian: [['nginx', '/usr/sbin/nginx']],
    commands: ['java', 'javac'],
    serve: (place) => nginx(place, 1_000),
    async use({ url, key, run, folder }) {
      await run('java', [join(SCRIPTS, 'Client.java'), url, key]);
    },
  },
  {
    name: 'Prometheus + promtool: queries',
    settings: BASIC_WORDS,
    config: BASIC,
    debian: [['prometheus', '/usr/bin/prometheus']],
    serve(place) {
      writeFileSync(join(place.folder, 'prometheus.yml'), 'global: {}\n');
      return startServer(place, 'prometheus', (port) => [
        '--config.file=prometheus.yml',
        `--storage.tsdb.path=${place.folder}/tsdb`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]);
    },
    async use({ host, key, run }) {
      for (const query of ['vector(1)', 'up{job=~"a|b"}'])
        await run('promtool', ['query', 'instant', `http://any:${key}@${host}`, query]);
    },
  },
];
