import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { BanStore } from '../admission/port.js';

/** How many bans are in force, asked of the store at each scrape; no figure while it is away. */
export function watchBans(registry: Registry, bans: BanStore): void {
  new Gauge({
    name: 'petgate_bans_active', help: 'Bans in force, of keys and of addresses, in the whole store; no figure while it is away.', labelNames: ['subject'], registers: [registry],
    async collect() {
      this.reset();
      const inForce = await bans.inForce().catch(() => null);
      if (inForce === null) return;
      this.set({ subject: 'key' }, inForce.keys);
      this.set({ subject: 'address' }, inForce.addresses);
    },
  });
}
