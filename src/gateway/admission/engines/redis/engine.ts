import type { Log } from '../../../../shared/log.js';
import type { Plans } from '../../plan.js';
import type { AdmissionEngine } from '../../port.js';
import { admit, editionOf, probeOf } from './admit.js';
import { noteStarted } from './ban-index.js';
import { banStore } from './bans.js';
import { connect } from './connect.js';
import { keyStore } from './keys.js';
import { Link } from './link.js';
import { prefixOf } from './names.js';
import { parseRedisUrl } from './url.js';
import { fail, usageStore } from './usage.js';

export interface RedisEngineOptions {
  /** See url.ts for its forms. */
  readonly url: string;
  /** Hard deadline of every call. */
  readonly deadlineMs: number;
  readonly plans: Plans;
  /** Days the usage ledger is kept. */
  readonly usageDays: number;
  readonly log?: Log;
  /** Tests only: instead of IMPORT_LEASE_MS. */
  readonly importLeaseMs?: number;
}

export interface RedisEngine extends AdmissionEngine {
  /** Puts other plans in force from the next batch on. */
  setPlans(plans: Plans): void;
}

/**
 * The engine for several gateways: all decisions in Redis (7.0 or newer), on its clock.
 * Opens also while Redis is away, and recovers by itself.
 * @throws Error when `url` has none of the forms of url.ts
 */
export function openRedisEngine(options: RedisEngineOptions): RedisEngine {
  const { url, deadlineMs, usageDays } = options;
  let edition = editionOf(options.plans, usageDays);
  const link = new Link(connect(parseRedisUrl(url), deadlineMs), deadlineMs, () => probeOf(edition), options.log);
  return {
    name: 'redis',
    async admit(requests) {
      const verdicts = await admit(link, edition, requests);
      noteStarted(link, requests, verdicts);
      return verdicts;
    },
    fail: (failures) => fail(link, failures, usageDays),
    keys: keyStore(link, options.importLeaseMs),
    bans: banStore(link),
    usage: usageStore(link),
    check: () => link.check(prefixOf({ kind: 'address', address: 'check' })),
    close: () => link.close(),
    setPlans(plans) {
      edition = editionOf(plans, usageDays);
    },
  };
}
