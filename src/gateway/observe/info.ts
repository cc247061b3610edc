import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { fingerprintOf } from '../config/fingerprint.js';
import type { Settings } from '../config/settings.js';
import type { Running } from '../store/port.js';
import { packageRoot } from '../../shared/package-root.js';

/** What runs here, with hashes of settings and contract, which are computed only when these change. */
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

/** The same as labels. Once, in the process that reads the files. */
export function watchInfo(registry: Registry, environment: string, running: () => Running): void {
  new Gauge({
    name: 'petgate_info',
    help:
      'Always 1: version, Node, environment, and short hashes of plans, contract and settings in force are in the ' +
      'labels.',
    labelNames: ['version', 'node', 'environment', 'plans', 'contract', 'settings'],
    registers: [registry],
    collect() {
      this.reset();
      this.set({ node: process.version, environment, ...running() }, 1);
    },
  });
}
