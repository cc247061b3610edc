import type { Registry } from 'prom-client';
import { ANONYMOUS_PLAN } from '../../admission/plan.js';
import { UNMATCHED } from '../../contract/route.js';
import { cachedByLabels } from './cached-by-labels.js';
import { QuickCounter } from './counter.js';

/**
 * Counts what settled holds changed; an operation's series begin with its first difference.
 * @param nameOf returns the label of an operation
 */
export function countSettlements(
  registry: Registry,
  plans: Iterable<string>,
  nameOf: (operation: string) => string,
): (plan: string, operation: string, units: number) => void {
  const counter = (name: string, help: string) =>
    new QuickCounter({ name, help, labelNames: ['plan', 'operation'], registers: [registry] });
  const excess = counter(
    'petgate_units_excess_total',
    'Units that responses cost beyond their holds: with the admitted units, they equal the ledger.',
  );
  const returned = counter(
    'petgate_units_returned_total',
    'Units of holds that came back, because the responses cost less; equals the ledger.',
  );
  const seriesOf = cachedByLabels((plan, operation) => ({
    excess: excess.series({ plan, operation }),
    returned: returned.series({ plan, operation }),
  }));
  for (const plan of plans) if (plan !== ANONYMOUS_PLAN) seriesOf(plan, UNMATCHED);
  return (plan, operation, units) => {
    const series = seriesOf(plan, nameOf(operation));
    if (units > 0) series.excess.inc(units);
    else series.returned.inc(-units);
  };
}
