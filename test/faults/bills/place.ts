import { until } from '../../servers/until.js';
import type { Gateway } from './gateway.js';
import { copyOf, emptyStore, replay, type Store } from './model.js';
import type { ReplicatedRedis } from './replicated-redis.js';

/** Longer than a gateway takes to see that another Redis is there. */
const STALE_MS = 2_500;

/** A store with its gateways, and what it must hold. */
export class Place {
  readonly name: string;
  readonly gateways: Gateway[] = [];
  store: Store = emptyStore();
  /** Keys of which Redis lost changes at some time. */
  readonly restored = new Set<string>();
  /** It was not trusted before what happens to it now. */
  wasDistrusted = false;
  /** Its last report was refused, as it is to be while the store is unavailable. */
  wasRefused = false;
  /** Requests of which nobody knows whether they were admitted, by `<key> <day>`. */
  readonly unknown: Record<string, number> = {};
  readonly redis: ReplicatedRedis | null;

  constructor(name: string, redis: ReplicatedRedis | null) {
    this.name = name;
    this.redis = redis;
  }

  get isDown(): boolean {
    return this.redis?.isDown ?? false;
  }

  get isDistrusted(): boolean {
    return this.gateways.some((gateway) => gateway.isDistrusting());
  }

  /** Waits until each gateway knows how Redis fares; what it counted by itself is in Redis when that decides again. */
  async settle(): Promise<void> {
    for (const gateway of this.gateways) {
      const is = (what: () => boolean, withinMs?: number): Promise<void> =>
        until(
          `${gateway.name} knows how its store fares`,
          async () => {
            await gateway.engine.check().catch(() => undefined);
            return what();
          },
          withinMs,
        );
      if (this.isDown) await is(() => !gateway.isUp());
      // It may be of the Redis before this one that it thinks so.
      else if (this.wasDistrusted) await is(() => gateway.isUp(), STALE_MS).catch(() => undefined);
      else await is(() => gateway.isUp() || gateway.isDistrusting());
      if (!gateway.isUp()) continue;
      replay(this.store, gateway.folder);
    }
    if (this.isDown) return;
    this.wasDistrusted = false;
    if (!this.isDistrusted) await this.readHistories();
  }

  /** Gateways write back what a Redis that was restored lost of a key: its history has a step more then. */
  async readHistories(): Promise<void> {
    const [{ engine }] = this.gateways as [Gateway];
    for (const id of this.restored) {
      const steps = this.store.keys[id];
      const history = steps === undefined ? [] : await engine.keys.history(id).catch(() => []);
      for (let n = steps?.length ?? 0; n < history.length - 1; n += 1)
        steps!.push({ id: `${id} ${history[n + 1]!.atMs}`, day: '', requests: 0 });
    }
  }

  /** The store is what it was; of some keys it lacks what gateways know. */
  revert(store: Store): Store {
    for (const [id, steps] of Object.entries(this.store.keys))
      if (steps.length > (store.keys[id]?.length ?? Infinity)) this.restored.add(id);
    return copyOf(store);
  }
}

/** Takes the store as it is, by one of its gateways, and waits for the others. Gives its id. */
export async function accept(place: Place, { engine }: Gateway): Promise<string> {
  let id = '';
  await until('it is accepted', async () => ((id = await engine.trust!.accept()), true));
  await until('all gateways trust it', () => !place.isDistrusted);
  return id;
}
