import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ReloadState } from '../config/reload.js';
import type { Settings } from '../config/settings.js';
import { packageRoot } from '../../shared/package-root.js';
import { addProcessMetrics } from '../../shared/process-metrics.js';

/** What runs here, and what it takes of the machine. Once in each process. */
export function watchProcess(registry: Registry, settings: Settings): void {
  const registers = [registry];
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  new Gauge({ name: 'petgate_info', help: 'Always 1: version, Node and environment stand in the labels.', labelNames: ['version', 'node', 'environment'], aggregator: 'first', registers })
    .set({ version, node: process.version, environment: settings.environment }, 1);
  // The counts of workers that died are kept, so those of the whole begin with the first process.
  new Gauge({ name: 'petgate_start_time_seconds', help: 'Unix time since which these figures count.', aggregator: 'min', registers }).set(Math.round(performance.timeOrigin) / 1000);
  addProcessMetrics(registry, 'petgate');
}

/** How the settings fare. In the one process that reads the files. */
export function watchConfig(registry: Registry, config: () => ReloadState): void {
  const registers = [registry];
  new Gauge({
    name: 'petgate_config_loaded_timestamp_seconds', help: 'When the settings in force were loaded, unix time.', registers,
    collect() {
      this.set(config().sinceMs / 1000);
    },
  });
  new Gauge({
    name: 'petgate_config_ok', help: '0 while the files hold settings, or a certificate, that were refused: those before stay in force.', registers,
    collect() {
      this.set(config().ok ? 1 : 0);
    },
  });
}
