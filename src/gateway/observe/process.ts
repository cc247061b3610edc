import type { Registry } from 'prom-client';
import type { AdmissionEngine } from '../store/port.js';
import type { ReloadState } from '../config/reload.js';
import type { Health } from './health.js';
import { addProcessMetrics, totalOf } from '../../shared/metrics/process.js';
import { gaugeOf, gaugesOf } from '../../shared/metrics/gauge.js';

/** Adds metrics of this process: its resources, and whether it decides without Redis. Call once per process. */
export function watchProcess(
  registry: Registry,
  { failover, trust, reopenings }: Pick<AdmissionEngine, 'failover' | 'trust' | 'reopenings'>,
): void {
  // The counts of dead workers are kept, so the totals begin with the oldest process.
  gaugeOf(
    registry,
    'petgate_start_time_seconds',
    'Unix time since which these metrics count.',
    () => Math.round(performance.timeOrigin) / 1000,
    'min',
  );
  addProcessMetrics(registry, 'petgate');
  if (trust !== undefined)
    gaugeOf(
      registry,
      'petgate_store_replaced',
      '1 while Redis counts as unavailable because it has lost data, is another one or belongs to another ' +
        'environment, until an operator accepts it; the maximum over processes.',
      () => (trust.replaced() === null ? 0 : 1),
      'max',
    );
  if (reopenings !== undefined)
    totalOf(
      registry,
      'petgate_store_reopened_total',
      'Times that files of the embedded store failed and were reopened.',
      reopenings,
    );
  if (failover === undefined) return;
  gaugeOf(
    registry,
    'petgate_store_degraded',
    '1 while Redis is unavailable and this gateway decides by itself, from a share of each limit; the maximum ' +
      'over processes.',
    () => (failover.degraded() === null ? 0 : 1),
    'max',
  );
}

/** Adds metrics of store, settings and bans. Call once, in the process that reads files and checks the store. */
export function watchGateway(
  registry: Registry,
  { name: engine, failover, trust, bans }: AdmissionEngine,
  health: Health,
  config: () => ReloadState,
): void {
  gaugeOf(
    registry,
    'petgate_config_loaded_timestamp_seconds',
    'Unix time at which the settings in force were loaded.',
    () => config().sinceMs / 1000,
  );
  gaugeOf(
    registry,
    'petgate_config_ok',
    '0 while invalid settings or an invalid certificate were refused and the previous ones stay in force, or ' +
      "while plans don't serve keys that are on them.",
    () => (config().ok ? 1 : 0),
  );
  gaugesOf(
    registry,
    'petgate_store_up',
    '1 if the last check, a real admission at cost 0, succeeded; else 0.',
    'engine',
    () => [[engine, health.storeOk() ? 1 : 0]],
  );
  gaugesOf(
    registry,
    'petgate_bans_active',
    'Bans in force in the whole store, of keys and of addresses; absent while the store is unavailable.',
    'subject',
    async () => {
      const inForce = await bans.inForce().catch(() => null);
      return (
        inForce && [
          ['key', inForce.keys],
          ['address', inForce.addresses],
        ]
      );
    },
  );
  if (trust !== undefined) {
    gaugeOf(
      registry,
      'petgate_store_evicts',
      '1 while the maxmemory-policy of Redis drops data when its memory is full, and store.eviction does not ' +
        'accept that.',
      () => (typeof trust.evicts() === 'string' ? 1 : 0),
    );
    gaugeOf(
      registry,
      'petgate_store_evicted_keys',
      'Keys that all Redis masters dropped since their start because memory was full.',
      () => trust.evictedKeys(),
    );
  }
  if (failover === undefined) return;
  gaugeOf(
    registry,
    'petgate_spool_requests',
    'Requests that all processes of this gateway admitted while Redis was unavailable and that its ledger ' +
      'does not have yet.',
    () => failover.spooled(),
    'max',
  );
  gaugeOf(
    registry,
    'petgate_failover_gateways',
    'Gateways that share each limit while Redis is unavailable.',
    () => failover.gateways(),
    'max',
  );
}
