import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { AdmissionEngine, Failover } from '../admission/port.js';
import type { Health } from '../health.js';

/** Whether the store can decide, as the process sees it that keeps an eye on it. */
export function watchStore(registry: Registry, { name: engine, failover }: AdmissionEngine, health: Health): void {
  new Gauge({
    name: 'petgate_store_up', help: '1 while the last check, a real admission that costs nothing, went through; else 0.', labelNames: ['engine'], registers: [registry],
    collect() {
      this.set({ engine }, health.storeOk() ? 1 : 0);
    },
  });
  if (failover === undefined) return;
  gauge(registry, 'petgate_spool_requests', 'Requests admitted here while Redis was away that its ledger does not have yet; of the whole gateway, as one process counts them.', () => failover.spooled());
  gauge(registry, 'petgate_failover_gateways', 'Gateways that share each limit while Redis is away.', () => failover.gateways());
}

/** Whether this process decides by itself; for every process that decides or checks. */
export function watchDegraded(registry: Registry, failover: Failover | undefined): void {
  if (failover === undefined) return;
  gauge(registry, 'petgate_store_degraded', '1 while Redis is away and requests are decided here, from a share of each limit; of all processes the worst.', () => (failover.degraded() === null ? 0 : 1));
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name, help, aggregator: 'max', registers: [registry],
    collect() {
      this.set(read());
    },
  });
}
