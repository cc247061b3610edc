import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Health } from '../health.js';

/** Whether the store can decide, as the process sees it that keeps an eye on it. */
export function watchStore(registry: Registry, engine: string, health: Health): void {
  new Gauge({
    name: 'petgate_store_up', help: '1 while the last check, a real admission that costs nothing, went through; else 0.', labelNames: ['engine'], registers: [registry],
    collect() {
      this.set({ engine }, health.storeOk() ? 1 : 0);
    },
  });
}
