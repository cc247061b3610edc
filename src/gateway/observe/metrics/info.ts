import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { fingerprintOf } from '../../config/fingerprint.js';
import type { Settings } from '../../config/schema/gateway.js';
import type { Running } from '../../store/port.js';
import { packageRoot } from '../../../shared/package-root.js';

/** Returns a reader of what runs here. It hashes settings and contract only when they change. */
export function runningBy(settings: () => Settings, contract: () => string): () => Running {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  let known = [settings(), contract()] as const;
  let running: Running = { version, ...fingerprintOf(...known) };
  return () => {
    const current = [settings(), contract()] as const;
    if (current.some((part, index) => part !== known[index]))
      [known, running] = [current, { version, ...fingerprintOf(...current) }];
    return running;
  };
}

/** Adds the same as labels of a metric. Call once, in the process that reads the files. */
export function watchInfo(registry: Registry, environment: string, running: () => Running): void {
  new Gauge({
    name: 'petgate_info',
    help:
      'Always 1; labels: version, Node, environment, and short hashes of the plans, contract and settings in ' +
      'force.',
    labelNames: ['version', 'node', 'environment', 'plans', 'contract', 'settings'],
    registers: [registry],
    collect() {
      this.reset();
      this.set({ node: process.version, environment, ...running() }, 1);
    },
  });
}
