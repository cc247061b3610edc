import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { SoakGateway } from './gateway.js';

/** Keys that are changed while they are used: in no one's way, for a rotated key's old secret stays valid. */
interface Changed {
  readonly rotatedId: string;
  readonly bannedId: string;
}

/** One thing that is done again and again beside the load. */
interface Activity {
  readonly name: string;
  /** Seconds from one end to the next begin. */
  readonly every: number;
  readonly run: (gateway: SoakGateway, time: number) => Promise<unknown>;
}

/** What goes on beside the load until `stop`: each activity by itself, however long it takes. */
export class Beside {
  readonly times = new Map<string, number>();
  readonly longestMs = new Map<string, number>();
  readonly failures: string[] = [];
  #stopped = new AbortController();
  #running: Promise<void>[] = [];

  /** @param isArchived whether days of the ledger move to an archive */
  start(gateway: SoakGateway, from: string, isArchived: boolean, changed: Changed): void {
    // Each activity's pause listens.
    setMaxListeners(0, this.#stopped.signal);
    this.#running = [...activities(from, changed), ...(isArchived ? ARCHIVING : [])].map((activity) =>
      this.#repeat(gateway, activity),
    );
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#running);
  }

  async #repeat(gateway: SoakGateway, { name, every, run }: Activity): Promise<void> {
    for (let time = 0; !this.#stopped.signal.aborted; time += 1) {
      const beganMs = performance.now();
      try {
        await run(gateway, time);
        this.times.set(name, time + 1);
      } catch (error) {
        this.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
      this.longestMs.set(name, Math.max(this.longestMs.get(name) ?? 0, performance.now() - beganMs));
      await pause(every * 1000, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
  }
}

const ARCHIVING: readonly Activity[] = [
  {
    name: 'archive move',
    every: 20,
    // A move that the gateway began by itself is waited for.
    run: (gateway) => gateway.admin('POST', '/admin/v1/usage/archive/move'),
  },
  { name: 'archive verify', every: 30, run: (gateway) => gateway.admin('GET', '/admin/v1/usage/archive/verify') },
];

function activities(from: string, { rotatedId, bannedId }: Changed): readonly Activity[] {
  const report = (by: string, every: number): Activity => ({
    name: `report by ${by}`,
    every,
    run: (gateway) => gateway.admin('GET', `/admin/v1/usage?by=${by}&from=${from}`),
  });
  return [
    report('key', 10),
    report('day', 12),
    report('customer', 14),
    { name: 'export', every: 9, run: (gateway) => gateway.admin('GET', '/admin/v1/store/export') },
    {
      name: 'rotation',
      every: 5,
      run: (gateway) => gateway.admin('POST', `/admin/v1/keys/${rotatedId}/rotate`, { overlap: '24h' }),
    },
    {
      name: 'new key',
      every: 2,
      run: (gateway, time) => gateway.admin('POST', '/admin/v1/keys', { plan: 'roomy', name: `beside ${time}` }),
    },
    {
      name: 'plans',
      every: 7,
      run: (gateway, time) => {
        gateway.changePlans(600 + (time % 2));
        return Promise.resolve();
      },
    },
    {
      name: 'ban',
      every: 6,
      run: async (gateway) => {
        await gateway.admin('PUT', `/admin/v1/bans/${bannedId}`, { for: '1h', reason: 'soak' });
        await pause(2_000);
        await gateway.admin('DELETE', `/admin/v1/bans/${bannedId}`);
      },
    },
    { name: 'scrape', every: 5, run: (gateway) => gateway.admin('GET', '/metrics') },
  ];
}
