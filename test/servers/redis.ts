import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, freePortWithBus } from './free-port.js';
import type { Teardown } from './program.js';
import { until } from './until.js';

export interface RedisOptions {
  /** Lines for redis.conf, such as `appendonly yes` or `maxmemory 4mb`. */
  readonly config?: readonly string[];
  /** Runs as `redis-server --sentinel`. */
  readonly sentinel?: boolean;
  readonly cluster?: boolean;
}

/** A real redis-server on 127.0.0.1 with a folder of its own. Without persistence, unless `config` asks for it. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  /** Where it keeps its data. */
  readonly folder: string;
  /** Any command, over a connection of its own that waits for the server. */
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
  /** SIGSTOP: the port stays open and nothing answers. */
  freeze(): void;
  thaw(): void;
  /** SIGKILL; the folder stays for `restart`. */
  kill(): Promise<void>;
  /** Starts again on the same port and folder, after `kill`. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

const ATTEMPTS = 5;

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'petgate-redis-'));
  for (let attempt = 1; ; attempt += 1) {
    const port = options.cluster === true ? await freePortWithBus() : await freePort();
    try {
      return await startOn(port, folder, options);
    } catch (error) {
      if (attempt < ATTEMPTS && error instanceof PortTaken) continue;
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }
}

/** A Redis that ends with the test. */
export async function redisFor(t: Teardown, options: RedisOptions = {}): Promise<RedisServer> {
  const redis = await startRedis(options);
  t.teardown(() => redis.stop());
  return redis;
}

/** What a gateway's environment says of its store: `embedded`, the same with `workers`, or a `redis` of its own. */
export async function storeOf(t: Teardown, engine: string): Promise<Record<string, string>> {
  if (engine.includes('workers')) return { PETGATE_WORKERS: '2' };
  return engine.includes('redis') ? { REDIS_URL: (await redisFor(t)).url } : {};
}

class PortTaken extends Error {}

async function startOn(port: number, folder: string, options: RedisOptions): Promise<RedisServer> {
  await writeFile(join(folder, 'redis.conf'), configOf(port, folder, options));
  const args = [join(folder, 'redis.conf'), ...(options.sentinel === true ? ['--sentinel'] : [])];
  let child = await launch(args);
  // A child left behind by a crash of the test would live on for ever.
  const reap = (): void => void child.kill('SIGKILL');
  process.once('exit', reap);
  const client = new Redis({
    host: '127.0.0.1',
    port,
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => 20,
  });
  client.on('error', () => undefined);

  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    port,
    folder,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid ?? 0;
    },
    command: (name, ...rest) => client.call(name, ...rest),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      child = await launch(args);
    },
    async stop() {
      client.disconnect();
      await kill();
      process.removeListener('exit', reap);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configOf(port: number, folder: string, { config = [], sentinel, cluster }: RedisOptions): string {
  const server = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0'];
  const node =
    cluster === true
      ? [
          'cluster-enabled yes',
          'cluster-config-file nodes.conf',
          'cluster-node-timeout 1000',
          'cluster-require-full-coverage no',
        ]
      : [];
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${folder}`,
    ...(sentinel === true ? [] : server),
    ...node,
    ...config,
    '',
  ].join('\n');
}

/** The process, once it serves. */
async function launch(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ENOENT' ? new Error('redis-server is not installed: run apt-get install redis-server') : error,
      );
    });
    child.once('exit', (code) => {
      reject(
        /Address already in use/.test(log)
          ? new PortTaken('port taken')
          : new Error(`redis-server ended with ${code ?? 'a signal'}:\n${log}`),
      );
    });
    child.stdout.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_000);
      if (/Ready to accept connections|\+monitor master|Sentinel ID is/.test(log)) resolve();
    });
  });
  return child;
}

export interface RedisCluster {
  readonly url: string;
  readonly masters: readonly RedisServer[];
  stop(): Promise<void>;
}

/** Three masters that share all slots. */
export async function startCluster({ config = [] }: Pick<RedisOptions, 'config'> = {}): Promise<RedisCluster> {
  const masters = await Promise.all([0, 1, 2].map(() => startRedis({ config, cluster: true })));
  const [first] = masters;
  const bounds = [0, 5_461, 10_923, 16_384];
  await Promise.all(
    masters.map((node, n) => node.command('CLUSTER', 'ADDSLOTSRANGE', bounds[n] ?? 0, (bounds[n + 1] ?? 0) - 1)),
  );
  for (const node of masters.slice(1)) await first?.command('CLUSTER', 'MEET', '127.0.0.1', node.port);
  for (const node of masters) {
    await until('the Cluster knows all its slots', async () => {
      const info = String(await node.command('CLUSTER', 'INFO'));
      return (
        info.includes('cluster_state:ok') &&
        info.includes('cluster_slots_ok:16384') &&
        info.includes('cluster_known_nodes:3')
      );
    });
  }
  return {
    url: `redis+cluster://${masters.map((node) => `127.0.0.1:${node.port}`).join(',')}`,
    masters,
    async stop() {
      await Promise.all(masters.map((node) => node.stop()));
    },
  };
}

export interface RedisSentinel {
  readonly url: string;
  /** The servers; which of them is master changes with a failover. */
  readonly servers: readonly RedisServer[];
  /** The present master, as the sentinel sees it. */
  master(): Promise<RedisServer>;
  /** Kills the master and waits until the replica has taken its place. */
  failover(): Promise<void>;
  /** Makes the replica master while the old one stays up, and turns into a replica. */
  switchOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A sentinel that takes longer to call a master dead is notified of it. */
const SOON_MS = 1_000;

interface SentinelOptions extends Pick<RedisOptions, 'config'> {
  /**
   * Silence after which a master counts as dead. A replica whose link was down for ten times as long is not promoted.
   */
  readonly downAfterMs?: number;
}

/** A master, a replica, and a sentinel that is alone to decide. `config` is for both servers. */
export async function startSentinel({ config = [], downAfterMs = 300 }: SentinelOptions = {}): Promise<RedisSentinel> {
  const first = await startRedis({ config });
  const second = await startRedis({ config: [...config, `replicaof 127.0.0.1 ${first.port}`] });
  const sentinel = await startRedis({
    sentinel: true,
    config: [
      `sentinel monitor petgate 127.0.0.1 ${first.port} 1`,
      `sentinel down-after-milliseconds petgate ${downAfterMs}`,
      'sentinel failover-timeout petgate 2000',
    ],
  });
  const servers = [first, second];
  const master = async (): Promise<RedisServer> => {
    // Not GET-MASTER-ADDR-BY-NAME: that names the new one while the failover is still under way.
    const fields = (await sentinel.command('SENTINEL', 'MASTER', 'petgate')) as string[];
    return servers.find((server) => server.port === Number(fields[fields.indexOf('port') + 1])) ?? first;
  };
  await until('the sentinel knows the replica', async () => {
    const replicas = (await sentinel.command('SENTINEL', 'REPLICAS', 'petgate')) as unknown[];
    const info = String(await second.command('INFO', 'replication'));
    return replicas.length === 1 && info.includes('master_link_status:up');
  });
  const changed = async (before: RedisServer): Promise<void> => {
    await until('the replica is master', async () => {
      const now = await master();
      return now !== before && String(await now.command('INFO', 'replication')).includes('role:master');
    });
  };
  const begin = (): Promise<void> =>
    until(
      'the sentinel agrees to a failover',
      async () => (await sentinel.command('SENTINEL', 'FAILOVER', 'petgate'), true),
    );
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/petgate`,
    servers,
    master,
    async failover() {
      const before = await master();
      await before.kill();
      if (downAfterMs > SOON_MS) await begin();
      await changed(before);
    },
    async switchOver() {
      const before = await master();
      await begin();
      await changed(before);
    },
    async stop() {
      await Promise.all([sentinel, ...servers].map((server) => server.stop()));
    },
  };
}
