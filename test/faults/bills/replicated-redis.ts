import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startProxy, type StallingProxy } from '../../servers/stalling-proxy.js';
import { startRedis, type RedisServer } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { copyOf, type Store } from './model.js';

/** A snapshot of a Redis, and what it holds. */
interface Snapshot {
  readonly file: string;
  readonly store: Store;
}

/** A Redis behind an address that stays, and the replica that may take its place. */
export class ReplicatedRedis {
  readonly #proxy: StallingProxy;
  #servers: [master: RedisServer, replica: RedisServer];
  snapshots: Snapshot[] = [];
  isDown = false;
  /** What the replica had when it heard the master last; null while it follows. */
  behind: Store | null = null;

  constructor(proxy: StallingProxy, servers: [RedisServer, RedisServer]) {
    this.#proxy = proxy;
    this.#servers = servers;
  }

  static async start(): Promise<ReplicatedRedis> {
    const servers = await Promise.all([startRedis(), startRedis()]);
    const redis = new ReplicatedRedis(await startProxy(servers[0].port), servers);
    await redis.follow();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#proxy.port}`;
  }

  async snapshot(store: Store): Promise<void> {
    const [{ folder }] = this.#servers;
    await this.#servers[0].command('SAVE');
    const file = join(folder, `snapshot-${this.snapshots.length}`);
    copyFileSync(join(folder, 'dump.rdb'), file);
    this.snapshots.push({ file, store: copyOf(store) });
  }

  /** Gone for its gateways, with all that it has kept. */
  async goDown(): Promise<void> {
    this.isDown = true;
    this.#proxy.set('refuse');
    await this.#servers[0].command('SAVE');
  }

  /** Is there again, as it was. */
  comeUp(): void {
    this.isDown = false;
    this.#proxy.set('pass');
  }

  /** Starts from another file, or from none. */
  async startFrom(file: string | null): Promise<void> {
    const [master] = this.#servers;
    await master.kill();
    const dump = join(master.folder, 'dump.rdb');
    if (file === null) rmSync(dump, { force: true });
    else copyFileSync(file, dump);
    await master.restart();
    if (this.behind === null) await this.#followed();
  }

  /** The replica hears nothing from now on. */
  async fallBehind(store: Store): Promise<void> {
    await this.#followed();
    await this.#servers[1].command('REPLICAOF', 'NO', 'ONE');
    this.behind = copyOf(store);
  }

  /** The master dies, and the replica takes its place; the old master follows it. */
  async failOver(): Promise<void> {
    const [old, next] = this.#servers;
    await next.command('REPLICAOF', 'NO', 'ONE');
    this.#servers = [next, old];
    this.#proxy.retarget(next.port);
    await old.command('FLUSHALL');
    await this.follow();
  }

  async follow(): Promise<void> {
    const [master, replica] = this.#servers;
    await replica.command('REPLICAOF', '127.0.0.1', master.port);
    this.behind = null;
    await this.#followed();
  }

  async #followed(): Promise<void> {
    const [master, replica] = this.#servers;
    await until('the replica follows', async () => {
      const [there, here] = await Promise.all([master, replica].map((each) => each.command('INFO', 'replication')));
      const offset = (info: unknown, name: string): string | undefined =>
        new RegExp(`^${name}:(\\d+)`, 'm').exec(String(info))?.[1];
      return (
        String(here).includes('master_link_status:up') &&
        offset(here, 'slave_repl_offset') === offset(there, 'master_repl_offset')
      );
    });
  }

  async clear(): Promise<void> {
    for (const server of this.#servers) await server.command('REPLICAOF', 'NO', 'ONE');
    for (const server of this.#servers) await server.command('FLUSHALL');
    for (const { file } of this.snapshots.splice(0)) rmSync(file, { force: true });
    this.comeUp();
    await this.follow();
  }

  async stop(): Promise<void> {
    await this.#proxy.stop();
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}
