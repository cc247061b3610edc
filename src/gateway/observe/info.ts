import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { fingerprintOf } from '../config/fingerprint.js';
import type { Settings } from '../config/settings.js';
import { packageRoot } from '../../shared/package-root.js';

/** What runs here, and by what settings and contract. Once, in the process that reads the files. */
export function watchInfo(registry: Registry, settings: () => Settings, contract: () => string): void {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  let known = [settings(), contract()] as const;
  let hashes = fingerprintOf(...known);
  new Gauge({
    name: 'petgate_info',
    help:
      'Always 1: version, Node, environment, and short hashes of plans, contract and settings in force are in the ' +
      'labels.',
    labelNames: ['version', 'node', 'environment', 'plans', 'contract', 'settings'],
    registers: [registry],
    collect() {
      const current = [settings(), contract()] as const;
      if (current.some((part, index) => part !== known[index])) [known, hashes] = [current, fingerprintOf(...current)];
      this.reset();
      this.set({ version, node: process.version, environment: known[0].environment, ...hashes }, 1);
    },
  });
}
