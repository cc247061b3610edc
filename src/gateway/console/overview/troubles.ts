import type { History } from '../figures/history.js';
import type { Span } from '../figures/window.js';
import { upstreamState } from './upstream-state.js';

/** Something that is wrong now, and the runbook that says what to do. */
interface Trouble {
  /** Name of the alert, and of its runbook docs/runbooks/<name>.md, which the console shows. */
  readonly runbook: string;
  readonly says: string;
}

interface Rule extends Pick<Trouble, 'runbook'> {
  readonly says: string | ((span: Span, history: History) => string);
  readonly holds: (span: Span) => boolean;
}

const DAY_S = 86_400;

const is = (name: string, value: number) => (span: Span) => span.to.value(name) === value;
const above = (name: string, value: number) => (span: Span) => (span.to.value(name) ?? 0) > value;
const grew = (name: string) => (span: Span) => span.grown(name) > 0;
const rule = (runbook: string, says: Rule['says'], holds: Rule['holds']): Rule => ({ runbook, says, holds });

const downIn = ({ to }: Span) =>
  to
    .series('petgate_upstream_up_ratio')
    .flatMap(({ labels, value }) => (value === 0 ? [labels['upstream'] ?? ''] : []));
const failingIn = (span: Span) =>
  [...span.grownBy('petgate_upstream_failures_total', 'upstream')].flatMap(([name, n]) => (n > 0 ? `“${name}”` : []));

/** The alerts in grafana/alerts that one gateway can detect by itself, most severe first. */
const RULES: readonly Rule[] = [
  rule('PetgateStoreAway', 'The store does not respond.', is('petgate_store_up', 0)),
  rule('PetgateStoreReplaced', 'Redis has lost its data, or is another one.', is('petgate_store_replaced', 1)),
  rule('PetgateStoreDegraded', 'Redis is unavailable: requests are decided here.', is('petgate_store_degraded', 1)),
  rule('PetgateSpoolGrowing', 'Counts wait on disk for Redis.', above('petgate_spool_requests', 0)),
  rule(
    'PetgateUpstreamDown',
    (span, history) => {
      const states = downIn(span).map((name) => `“${name}”: ${upstreamState(history, name, span.to.atMs)}`);
      return `Upstream ${states.join('; ')}.`;
    },
    (span) => downIn(span).length > 0,
  ),
  rule(
    'PetgateUpstreamFailing',
    (span) => `Requests to upstream ${failingIn(span).join(', ')} fail.`,
    (span) => failingIn(span).length > 0,
  ),
  rule('PetgateAvailabilityFastBurn', 'More than 1.4 % of the requests end in a 5xx.', (span) => {
    const failed = span.grown('petgate_requests_total', 'class', '5xx');
    return failed > 0.0144 * span.grown('petgate_requests_total');
  }),
  rule('PetgateAdmissionSlow', 'One admission in a hundred takes more than 50 ms.', (span) => {
    return (span.quantile('petgate_admission_duration_seconds', 0.99) ?? 0) > 0.05;
  }),
  rule('PetgateOverloaded', 'Requests are refused because too many are under way.', (span) => {
    return span.grown('petgate_refusals_total', 'code', 'overloaded') > 0;
  }),
  rule(
    'PetgateConfigRefused',
    'The files contain an error; the previous settings stay in force.',
    is('petgate_config_ok', 0),
  ),
  rule('PetgateStoreEvicts', 'Redis may drop data when its memory is full.', is('petgate_store_evicts', 1)),
  rule('PetgateStoreEvicted', 'Redis has dropped keys.', grew('petgate_store_evicted_keys')),
  rule(
    'PetgateBanWave',
    'More than ten keys were banned just now.',
    (span) => span.grown('petgate_bans_started_total') > 10,
  ),
  rule(
    'PetgateEventsWaiting',
    'An event waits for more than half an hour.',
    above('petgate_events_oldest_age_seconds', 1800),
  ),
  rule('PetgateLedgerLacking', 'The archive lacks days that it had.', above('petgate_ledger_lacking', 0)),
  rule('PetgateLedgerUnarchived', 'The usage ledger is not being archived.', is('petgate_ledger_unarchived', 1)),
  rule('PetgateLedgerNotArchived', 'Days of the ledger wait for the archive.', (span) => {
    return is('petgate_ledger_archive_up', 0)(span) || above('petgate_ledger_waiting', 0)(span);
  }),
  rule(
    'PetgateWorkerSilent',
    'A worker does not respond.',
    ({ to }) => to.sum('petgate_workers', 'state', 'silent') > 0,
  ),
  rule('PetgateWorkerRestarts', 'A worker died and was replaced.', grew('petgate_worker_restarts_total')),
  rule('PetgateCertificateEndsSoon', 'The certificate ends within three weeks.', ({ to }) => {
    const endS = to.value('petgate_tls_certificate_not_after_seconds');
    return endS !== undefined && endS - to.atMs / 1000 < 21 * DAY_S;
  }),
];

export function troublesOf(span: Span, history: History): readonly Trouble[] {
  return RULES.filter(({ holds }) => holds(span)).map(({ runbook, says }) => ({
    runbook,
    says: typeof says === 'string' ? says : says(span, history),
  }));
}
