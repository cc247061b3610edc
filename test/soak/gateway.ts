import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { WATCH_TURNS } from '../bench/turns.js';
import { LogReader } from './log-reader.js';
import type { SoakOptions } from './options.js';

const ADMIN_TOKEN = 'admin-token-of-the-soak-0123456789';
const LENIENT = { after: 1_000_000, within: '60s', for: '5m' };
const NEVER = 100_000_000;

/**
 * `roomy` is never refused; `tight` crosses its limit each minute. The others are of the keys with a ledger already.
 */
const plansOf = (tightMinute: number): object => ({
  roomy: { limits: { minute: NEVER, day: NEVER }, ban: LENIENT },
  tight: { limits: { minute: tightMinute, day: NEVER, month: NEVER }, ban: LENIENT },
  anonymous: { limits: { minute: NEVER, day: NEVER }, ban: LENIENT },
  ...Object.fromEntries(
    ['free', 'pro', 'business'].map((name) => [name, { limits: { minute: 60, day: 1000 }, ban: LENIENT }]),
  ),
});

interface Place {
  readonly folder: string;
  readonly upstreamPort: number;
  readonly receiverUrl: string;
  /** REDIS_URL, LEDGER_URL: with Redis only. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The gateway under soak, on the processors it may have. It ends with this process. */
export class SoakGateway {
  readonly child: ChildProcess;
  readonly log: LogReader;
  readonly dataFolder: string;
  readonly #plansFile: string;
  #adminUrl = '';
  port = 0;

  constructor(place: Place, { cpus, workers, program, store }: SoakOptions) {
    const { folder, upstreamPort } = place;
    mkdirSync(folder, { recursive: true });
    this.dataFolder = join(folder, 'data');
    this.#plansFile = join(folder, 'plans.yaml');
    this.changePlans(600);
    const config = join(folder, 'gateway.yaml');
    const settings = {
      extends: join(packageRoot, 'config/gateway.yaml'),
      plans: 'plans.yaml',
      workers,
      upstreams: { pets: { addresses: [`http://127.0.0.1:${upstreamPort}`], connections: 1024 } },
      events: { url: place.receiverUrl, allow_local: true },
      // A busy machine is no outage of Redis.
      ...(store === 'redis' ? { store: { deadline: '2s' } } : {}),
    };
    writeFileSync(config, stringify(settings));
    const cli = program ?? join(packageRoot, 'dist/program/main.js');
    const pin = cpus === 1 ? ['taskset', '-c', '0'] : [];
    const [file, ...args] = [...pin, process.execPath, cli, 'gateway'];
    this.child = spawn(file, args, {
      env: {
        PATH: process.env['PATH'],
        ...WATCH_TURNS,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        PETGATE_CONFIG: config,
        PETGATE_DATA: this.dataFolder,
        PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
        PETGATE_INTERNAL_TOKEN: 'internal-token-of-the-soak',
        PETGATE_EVENTS_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
        ...place.environment,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    this.log = new LogReader(this.child.stdout!);
    this.child.once('exit', (code, signal) => this.log.complaints.push(`the gateway ended: ${code ?? signal}`));
  }

  async serving(): Promise<void> {
    const line = await Promise.race([this.log.serving, this.log.ended]);
    if (line === undefined) throw new Error('the gateway ended before it served');
    this.port = Number(line.public.split(':').at(-1));
    this.#adminUrl = `http://${line.admin}`;
  }

  /** A change of plans that matters to nobody but the plan `tight`. */
  changePlans(tightMinute: number): void {
    writeFileSync(this.#plansFile, stringify(plansOf(tightMinute), { aliasDuplicateObjects: false }));
  }

  /** Gives the body. Rejects with what was answered instead of a success. */
  async admin(method: string, path: string, body?: object | string): Promise<string> {
    const answer = await fetch(this.#adminUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined
          ? {}
          : { 'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok && path !== '/readyz') throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text;
  }
}
