import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './buildah.mjs';

/** What of npm's settings says where packages come from. Paths of this machine are not there in the image. */
const SOURCE_OF_PACKAGES = /^(registry|@[^:]+:registry|\/\/|(https?-)?proxy|noproxy|strict-ssl)/;
/** Where people keep what must not be in an image. */
const PRIVATE = ['.env', '.npmrc', 'data/admin-token', 'data/internal-token', 'private.pem'];

/**
 * What is built from: the files of the working tree that Git has or would take, and beside them some with `secret`.
 * @returns the folder, and another with the npmrc to build with, which has the secret too
 */
export function makeContext(folder, secret) {
  const context = join(folder, 'context');
  const names = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'])
    .split('\0')
    .filter((name) => name !== '' && existsSync(name));
  for (const name of names) cpSync(name, join(context, name));
  for (const name of PRIVATE) {
    mkdirSync(dirname(join(context, name)), { recursive: true });
    writeFileSync(join(context, name), `# ${secret}\n`);
  }
  const npm = join(folder, 'npm');
  mkdirSync(npm);
  writeFileSync(join(npm, 'npmrc'), [`# ${secret}`, ...packageSource(), ''].join('\n'), { mode: 0o600 });
  return { context, npm };
}

function packageSource() {
  const config = (name) => run('npm', ['config', 'get', name]).trim();
  const userFile = config('userconfig');
  const lines = existsSync(userFile)
    ? readFileSync(userFile, 'utf8')
        .split('\n')
        .filter((line) => SOURCE_OF_PACKAGES.test(line))
    : [];
  return [...lines, `registry=${config('registry')}`];
}
