import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../../src/shared/package-root.js';
import { History } from '../../../../src/gateway/console/figures/history.js';
import { Sample } from '../../../../src/gateway/console/figures/sample.js';
import { Span } from '../../../../src/gateway/console/figures/window.js';
import { troublesOf } from '../../../../src/gateway/console/overview/troubles.js';

const between = (before: string, after: string): Span => new Span(new Sample(before, 0), new Sample(after, 60_000));
const namesOf = (before: string, after: string): readonly string[] =>
  troublesOf(between(before, after), new History(null)).map(({ runbook }) => runbook);

const WELL = `petgate_store_up{engine="redis"} 1
petgate_store_degraded 0
petgate_config_ok 1
petgate_upstream_up_ratio{upstream="pets"} 0.5
petgate_ledger_archive_up 1
petgate_workers{state="silent"} 0
petgate_worker_restarts_total 3
petgate_requests_total{class="5xx"} 7
petgate_requests_total{class="2xx"} 7
`;
const ILL = `petgate_store_up{engine="redis"} 0
petgate_store_replaced 1
petgate_store_degraded 1
petgate_spool_requests 1
petgate_upstream_up_ratio{upstream="a"} 1
petgate_upstream_up_ratio{upstream="b"} 0
petgate_upstream_addresses{upstream="b"} 3
petgate_upstream_failures_total{upstream="b",kind="refused"} 1
petgate_requests_total{class="5xx"} 9
petgate_requests_total{class="2xx"} 107
petgate_admission_duration_seconds_bucket{le="0.05"} 97
petgate_admission_duration_seconds_bucket{le="0.1"} 99
petgate_admission_duration_seconds_bucket{le="+Inf"} 99
petgate_refusals_total{code="overloaded"} 1
petgate_config_ok 0
petgate_store_evicts 1
petgate_store_evicted_keys 5
petgate_bans_started_total{plan="free"} 11
petgate_events_oldest_age_seconds 1801
petgate_ledger_unarchived 1
petgate_ledger_archive_up 0
petgate_workers{state="silent"} 1
petgate_worker_restarts_total 4
petgate_tls_certificate_not_after_seconds 1000000
`;

t.test('a gateway that is well has no trouble, and one where all is wrong has them all', (t) => {
  t.strictSame(namesOf(WELL, WELL), []);
  const all = namesOf(WELL, ILL);
  t.equal(all.length, 19);
  t.equal(all[0], 'PetgateStoreAway', 'the gravest first');
  const [history, span] = [new History(null), between(WELL, ILL)];
  history.add(span);
  const said = troublesOf(span, history).map(({ says }) => says);
  t.ok(said.includes('Upstream “b”: 0 of 3 up since 00:01 UTC.'));
  t.ok(said.includes('Requests to upstream “b” fail.'));
  t.end();
});

t.test('every trouble is an alert of the same name, and has its runbook', (t) => {
  const alerts = ['availability', 'clients', 'parts']
    .map((name) => readFileSync(join(packageRoot, `grafana/alerts/${name}.yaml`), 'utf8'))
    .join('\n');
  for (const name of namesOf(WELL, ILL)) {
    t.ok(existsSync(join(packageRoot, `docs/runbooks/${name}.md`)), name);
    t.match(alerts, `- alert: ${name}\n`);
  }
  t.end();
});
