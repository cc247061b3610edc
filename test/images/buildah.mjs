import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const OUTPUT_CHARS = 4_000;

/** Runs a program to its end and gives its standard output; throws with the end of what it said when it fails. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
  });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${`${stdout}${stderr}`.slice(-OUTPUT_CHARS)}`);
  return stdout;
}

/** buildah with a store of its own inside `folder`. No daemon, and no kernel feature but chroot and bind mounts. */
export class Buildah {
  #global;
  #env;

  constructor(folder) {
    const [storage, state, scratch] = ['storage', 'state', 'scratch'].map((name) => join(folder, name));
    mkdirSync(scratch, { recursive: true });
    this.#global = ['--root', storage, '--runroot', state, '--storage-driver', 'vfs'];
    this.#env = { ...process.env, TMPDIR: scratch };
  }

  /** @returns standard output without the line end */
  do(command, ...args) {
    return run('buildah', [...this.#global, command, ...args], { env: this.#env }).trim();
  }

  /**
   * Builds a target of the Dockerfile in `context`, as Docker would on a machine that has the base image.
   * The folder `npm` has the npmrc to build with. It is mounted where the base has a folder: for a file that it has
   * not, an empty one would stay in the image.
   */
  build(target, context, npm) {
    const name = `localhost/petgate-${target}`;
    // Docker's format, because OCI's has no health check.
    const how = [
      '--format',
      'docker',
      '--isolation',
      'chroot',
      '--pull-never',
      '--network',
      'host',
      '--volume',
      `${npm}:/usr/local/etc:ro`,
    ];
    this.do('bud', ...how, '--target', target, '--tag', name, context);
    return name;
  }

  /** A container of the image, not running: its name, and where its root file system is. */
  container(image) {
    const name = this.do('from', '--pull-never', image);
    return { name, root: this.do('mount', name) };
  }

  /** Docker's configuration of an image: Env, User, Cmd, Healthcheck … */
  configOf(image) {
    return JSON.parse(this.do('inspect', '--type', 'image', image)).Docker.config;
  }

  /** Runs a command in a container, as the image's user on the machine's network. */
  start(container, { data, environment, command }) {
    const variables = Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const args = [
      'run',
      '--isolation',
      'chroot',
      '--network',
      'host',
      '--volume',
      `${data}:/data`,
      ...variables,
      container.name,
      '--',
      ...command,
    ];
    return spawn('buildah', [...this.#global, ...args], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
  }
}
