import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { run } from './buildah.mjs';

const NODE_USER = 1000;
const READY_MS = 120_000;

/** Waits until `condition` gives something true, and gives that; throws when `what` does not come to pass. */
export async function until(what, condition) {
  const endMs = performance.now() + READY_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > endMs) throw new Error(`waited ${READY_MS / 1000} s in vain for ${what}`);
    await later(50);
  }
}

/** An image's own program, on a root file system that nobody can write to. */
export class Container {
  static #all = new Set();
  #buildah;
  #container;
  #config;
  #data;
  #environment;
  #child;
  output = '';

  /** Ends what still runs. */
  static killAll() {
    for (const container of Container.#all) container.#kill();
  }

  /** @param folder for its volume /data @param environment beside the image's own */
  constructor(buildah, image, folder, environment) {
    this.#buildah = buildah;
    this.#config = buildah.configOf(image);
    this.#container = buildah.container(image);
    this.#environment = environment;
    this.#data = join(folder, `data-of-${this.#container.name}`);
    mkdirSync(this.#data);
    chownSync(this.#data, NODE_USER, NODE_USER);
    const { root } = this.#container;
    run('mount', ['--bind', root, root]);
    run('mount', ['-o', 'remount,ro,bind', root]);
    // buildah puts a mark of its own there. The user of the image may not write in it.
    run('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', join(root, 'run')]);
  }

  start() {
    Container.#all.add(this);
    this.#child = this.#spawn(this.#config.Cmd);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (chunk) => (this.output += chunk));
  }

  /** The answer to a GET, once there is one. */
  firstAnswer(url) {
    return until(`an answer of ${url}`, () => {
      if (this.#child.exitCode !== null)
        throw new Error(`the program ended with ${this.#child.exitCode}:\n${this.output}`);
      return fetch(url).catch(() => null);
    });
  }

  /** Runs another command in the same container. */
  async exec(command) {
    const child = this.#spawn(command);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
    const [code] = await once(child, 'close');
    return { code, output };
  }

  /** Whether the image's health check passes. */
  async isHealthy() {
    const [form, ...command] = this.#config.Healthcheck.Test;
    return form === 'CMD' && (await this.exec(command)).code === 0;
  }

  /** The program as the machine sees it: who it runs as, and whether its root is mounted read-only. */
  seen() {
    const pid = this.#pid();
    const read = (name) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
    const status = new Map(
      read('status')
        .split('\n')
        .map((line) => line.split(':\t')),
    );
    const roots = read('mountinfo')
      .split('\n')
      .map((line) => line.split(' '))
      .filter((fields) => fields[4] === '/');
    return {
      uids: status.get('Uid'),
      capabilities: status.get('CapEff'),
      isReadOnly: roots.at(-1)?.[5].split(',').includes('ro') === true,
    };
  }

  /** SIGTERM to the program itself. @returns its exit code */
  async stop() {
    const exited = once(this.#child, 'exit');
    process.kill(this.#pid(), 'SIGTERM');
    return (await exited)[0];
  }

  #kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    for (const pid of descendantsOf(this.#child.pid).reverse()) process.kill(pid, 'SIGKILL');
    this.#child.kill('SIGKILL');
  }

  #spawn(command) {
    return this.#buildah.start(this.#container, { data: this.#data, environment: this.#environment, command });
  }

  #pid() {
    const pid = descendantsOf(this.#child.pid).find((each) => readlinkSync(`/proc/${each}/exe`).endsWith('/bin/node'));
    if (pid === undefined) throw new Error(`${this.#config.Cmd.join(' ')} does not run:\n${this.output}`);
    return pid;
  }
}

/** The processes below one, parents first. */
function descendantsOf(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' '),
  );
  return children
    .filter((child) => child !== '')
    .map(Number)
    .flatMap((child) => [child, ...descendantsOf(child)]);
}
