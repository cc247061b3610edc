import { Counter, type Registry } from 'prom-client';
import type { Per } from '../../admission/bucket.js';
import { ANONYMOUS_PLAN } from '../../admission/plan.js';
import { UNMATCHED } from '../../contract/route.js';
import type { OnVerdict } from '../../admission/admit.js';
import { QuickCounter } from './counter.js';
import { cachedByLabels } from './cached-by-labels.js';
import { QuickHistogram } from './histogram.js';

/** `operation` is the label for all windows of single operations. */
type WindowLabel = Per | 'operation' | 'concurrency';
const WINDOWS: readonly WindowLabel[] = ['minute', 'day', 'month', 'balance', 'operation', 'concurrency'];
const USED_BUCKETS = [0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 1];
/** An admission that leaves less than this share of a window is near the limit. */
const NEAR_SHARE = 0.2;

/**
 * Counts verdicts. Every series of a known plan starts at 0, because a rate can't see a series' first count; series of
 * single operations are added at their first use.
 * @param nameOf returns the label of an operation
 */
export function countVerdicts(
  registry: Registry,
  plans: Iterable<string>,
  nameOf: (operation: string) => string,
): OnVerdict {
  const { admitted, units, limited, near, banned, started, used } = countersOn(registry);
  const admittedSeries = cachedByLabels((plan, operation) => ({
    requests: admitted.series({ plan, operation }),
    units: units.series({ plan, operation }),
  }));
  const admittedChild = cachedByLabels((plan, operation) => admittedSeries(plan, nameOf(operation)));
  const usedChild = cachedByLabels((plan) => used.series({ plan }));
  for (const plan of plans) {
    for (const window of WINDOWS) for (const counter of [limited, near]) counter.inc({ plan, window }, 0);
    for (const counter of [banned, started]) counter.inc({ plan }, 0);
    if (plan === ANONYMOUS_PLAN) continue;
    usedChild(plan, '');
    admittedChild(plan, UNMATCHED);
  }

  return (verdict, operation) => {
    const { plan, keyId } = verdict;
    if (verdict.outcome === 'limited') limited.labels(plan, labelOf(verdict.violated)).inc();
    else if (verdict.outcome === 'banned') {
      banned.labels(plan).inc();
      if (verdict.started) started.labels(plan).inc();
    } else {
      for (const { name, limit, remaining } of verdict.windows) {
        if (limit === 'unlimited') continue;
        if (remaining < limit * NEAR_SHARE) near.labels(plan, labelOf(name)).inc();
        if (name === 'day' && keyId !== null) usedChild(plan, '').observe((limit - remaining) / limit);
      }
      if (keyId === null) return;
      const child = admittedChild(plan, operation);
      child.requests.inc();
      child.units.inc(verdict.cost);
    }
  };
}

function countersOn(registry: Registry) {
  const registers = [registry];
  const counter = (name: string, help: string, ...labels: readonly string[]) =>
    new Counter({ name, help, labelNames: [...labels], registers });
  const quickCounter = (name: string, help: string) =>
    new QuickCounter({ name, help, labelNames: ['plan', 'operation'], registers });
  return {
    admitted: quickCounter('petgate_admitted_total', 'Requests of valid keys that took a token; equals the ledger.'),
    units: quickCounter(
      'petgate_admitted_units_total',
      'Units that these requests took, holds included; with petgate_units_excess_total, they equal the ledger.',
    ),
    limited: counter(
      'petgate_limited_total',
      'Requests refused by a limit, by the window that resets last: minute, day, month, operation (all windows of ' +
        'single operations), or concurrency (requests in flight).',
      'plan',
      'window',
    ),
    near: counter('petgate_near_limit_total', 'Admissions that left less than 20 % of a window.', 'plan', 'window'),
    banned: counter('petgate_banned_total', 'Requests refused by a ban.', 'plan'),
    started: counter(
      'petgate_bans_started_total',
      'Bans started by refusals, without those that operators start.',
      'plan',
    ),
    used: new QuickHistogram({
      name: 'petgate_day_quota_used_ratio',
      help:
        'Share of its day limit that a key, or its customer, had used at each admission; without keys that ' +
        'have no day limit.',
      labelNames: ['plan'],
      buckets: USED_BUCKETS,
      registers,
    }),
  };
}

function labelOf(window: string): WindowLabel {
  return WINDOWS.find((label) => label === window) ?? 'operation';
}
