import { createHash } from 'node:crypto';
import type { Settings } from './schema/gateway.js';

/** Short hashes of a gateway's configuration: equal if gateways with the same keys run the same configuration. */
export interface Fingerprint {
  readonly plans: string;
  readonly contract: string;
  readonly settings: string;
}

const LENGTH = 8;
/** Settings that may differ between machines, or contain secrets. */
const OWN = new Set([
  'plans',
  'listen',
  'admin',
  'workers',
  'data',
  'contract',
  'overlays',
  'extends',
  'ca',
  'cert',
  'key',
  'redis',
  'archive',
  'url',
  'credential',
  'secrets',
]);

/** @param contract `hashOf` the document as served */
export function fingerprintOf(settings: Settings, contract: string): Fingerprint {
  const plans = [...settings.plans.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    plans: hashOf(JSON.stringify(plans, (_, value: unknown) => (value instanceof Map ? [...value] : value))),
    contract,
    settings: hashOf(JSON.stringify(settings, (key, value: unknown) => (OWN.has(key) ? undefined : value))),
  };
}

export function hashOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex').slice(0, LENGTH);
}
