import type { Log } from '../../../../shared/log.js';
import { NOT_YET, NodeHealth } from './health.js';
import { LoopClock } from './loop-clock.js';

/** The health of each node used so far, by name; all on one clock. */
export class Healths {
  readonly clock = new LoopClock(() => this.#tick());
  /** Called for each node that becomes unavailable or available. */
  watcher: () => void = () => undefined;
  readonly #all = new Map<string, NodeHealth>();
  readonly #deadlineMs: number;
  readonly #probe: (name: string, health: NodeHealth) => Promise<void>;
  readonly #log: Log | undefined;
  #closed = false;

  /** @param probe proves that a node decides; it has a deadline */
  constructor(deadlineMs: number, probe: (name: string, health: NodeHealth) => Promise<void>, log: Log | undefined) {
    this.#deadlineMs = deadlineMs;
    this.#probe = probe;
    this.#log = log;
  }

  /** Returns the health of a node; starts watching it if it is new. */
  of(name: string): NodeHealth {
    const known = this.#all.get(name);
    if (known !== undefined) return known;
    const health = new NodeHealth({
      clock: this.clock,
      deadlineMs: this.#deadlineMs,
      probe: (itself) => this.#probe(name, itself),
      changed: (reason) => this.#report(name, reason),
    });
    this.#all.set(name, health);
    // Otherwise a late call would start probes that never end.
    if (this.#closed) health.close();
    return health;
  }

  known(name: string): NodeHealth | undefined {
    return this.#all.get(name);
  }

  /** Why one of them is unavailable; null while none is. */
  get unavailable(): string | null {
    for (const { unavailable } of this.#all.values()) if (unavailable !== null) return unavailable;
    return null;
  }

  /** Why one of them is not trusted; null while all are. */
  get distrust(): string | null {
    for (const { distrust } of this.#all.values()) if (distrust !== null) return distrust;
    return null;
  }

  /** Returns what the clock of any node shows at `ourMs`, as last known; undefined before the first response. */
  storeMs(ourMs: number): number | undefined {
    for (const health of this.#all.values()) {
      const storeMs = health.storeMs(ourMs);
      if (storeMs !== undefined) return storeMs;
    }
    return undefined;
  }

  /** Yields the names of the nodes that respond. */
  *answering(): Generator<string> {
    for (const [name, { answers }] of this.#all) if (answers) yield name;
  }

  /** Waits until each node responds, at most until `untilMs`. Rejects with StoreUnavailable. */
  async ready(untilMs: () => number): Promise<void> {
    for (const health of this.#all.values()) await health.ready(untilMs());
  }

  forget(name: string): void {
    this.#all.get(name)?.close();
    this.#all.delete(name);
    this.watcher();
  }

  close(): void {
    this.#closed = true;
    for (const health of this.#all.values()) health.close();
    this.clock.stop();
  }

  #tick(): boolean {
    let isWanted = false;
    for (const health of this.#all.values()) if (health.tick()) isWanted = true;
    return isWanted;
  }

  #report(name: string, reason: string | null): void {
    const about = { engine: 'redis', ...(name === '' ? {} : { node: name }) };
    if (reason === null) this.#log?.info(about, 'store is available');
    else if (this.distrust !== null) this.#log?.error({ ...about, reason }, 'store is not trusted');
    else if (this.#all.get(name)?.wasReached !== true)
      this.#log?.[reason === NOT_YET ? 'info' : 'warn']({ ...about, reason }, 'waiting for Redis');
    else this.#log?.warn({ ...about, reason }, 'store is unavailable');
    this.watcher();
  }
}
