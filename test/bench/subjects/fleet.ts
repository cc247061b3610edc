import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/shared/package-root.js';
import { issueCertificate, type Issued } from '../../servers/certificate.js';
import { startRedis, type RedisServer } from '../../servers/redis.js';
import type { Scenario } from '../scenarios.js';
import type { BenchKey, KeyKind } from './keys.js';
import { startNginx } from './nginx.js';
import { startBare, startExpress, startFastify, startUpstream } from './node-peers.js';
import { registerAtPeers } from './peer-keys.js';
import { startPetgate, type Petgate } from './petgate.js';
import { SUBJECTS, type Place, type Started, type SubjectName } from './subject.js';

export interface LeftOut {
  /** Of a subject, or of a case. */
  readonly name: string;
  readonly why: string;
}

const STARTS: Readonly<Record<SubjectName, (place: Place) => Promise<Started | Petgate>>> = {
  bare: startBare,
  embedded: (place) => startPetgate(place, {}),
  'embedded+log': (place) => startPetgate(place, { accessLog: true }),
  redis: (place) => startPetgate(place, { withRedis: true }),
  'redis+log': (place) => startPetgate(place, { withRedis: true, accessLog: true }),
  'embedded+github': (place) => startPetgate(place, { withGithub: true }),
  'redis+github': (place) => startPetgate(place, { withRedis: true, withGithub: true }),
  'embedded+holds': (place) => startPetgate(place, { withHolds: true }),
  'redis+holds': (place) => startPetgate(place, { withRedis: true, withHolds: true }),
  nginx: startNginx,
  fastify: startFastify,
  express: startExpress,
};

/** The subjects of a scenario, with one Redis and one upstream for all. */
export class Fleet {
  readonly redis: RedisServer;
  readonly subjects = new Map<SubjectName, Started | Petgate>();
  readonly leftOut: LeftOut[] = [];
  readonly #upstream: Started;
  readonly #registered = new Set<string>();

  private constructor(redis: RedisServer, upstream: Started) {
    this.redis = redis;
    this.#upstream = upstream;
  }

  /**
   * Who can't be started is left out, and named.
   * @param root of the build of Petgate
   */
  static async start(
    names: ReadonlySet<SubjectName>,
    secure: Pick<Scenario, 'tls' | 'upstreamTls'>,
    folder: string,
    root = packageRoot,
  ): Promise<Fleet> {
    mkdirSync(folder, { recursive: true });
    const issue = (wanted = false, name: string): Issued | undefined =>
      wanted ? issueCertificate(folder, name) : undefined;
    const [tls, upstreamTls] = [issue(secure.tls, 'bench'), issue(secure.upstreamTls, 'upstream')];
    const fleet = new Fleet(await startRedis(), await startUpstream(upstreamTls));
    const { port } = fleet.#upstream;
    const upstream = {
      port,
      url: `${upstreamTls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
      ca: upstreamTls?.cert,
    };
    for (const name of SUBJECTS.filter((one) => names.has(one))) {
      try {
        fleet.subjects.set(
          name,
          await STARTS[name]({
            folder: join(folder, name),
            root,
            upstream,
            redis: fleet.redis,
            tls,
          }),
        );
      } catch (error) {
        fleet.leftOut.push({ name, why: error instanceof Error ? error.message : String(error) });
      }
    }
    return fleet;
  }

  /** Makes keys known to every subject. */
  async register(keys: readonly BenchKey[], kind: KeyKind): Promise<void> {
    const name = `${kind} ${keys.length}`;
    if (kind === 'unknown' || this.#registered.has(name)) return;
    this.#registered.add(name);
    await registerAtPeers(this.redis, keys, kind);
    let sharedIsDone = false;
    for (const [subject, started] of this.subjects) {
      const shares = subject.startsWith('redis');
      if (!('register' in started) || (shares && sharedIsDone)) continue;
      await started.register(keys, kind);
      sharedIsDone ||= shares;
    }
  }

  async stop(): Promise<void> {
    for (const { child } of [...this.subjects.values(), this.#upstream]) child.kill();
    await this.redis.stop();
  }
}
