import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { alerts, yamlFiles } from './rule-files.js';

const RULE_TESTS = yamlFiles(join(packageRoot, 'test/grafana/rules'));

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

function promtool(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

t.test('every alert fires when it should and keeps silent when it should', (t) => {
  const { status, said } = promtool('test', 'rules', ...RULE_TESTS);
  t.equal(status, 0, said);
  t.end();
});

t.test('every alert has a test in which it fires and one in which it does not', (t) => {
  const cases = RULE_TESTS.flatMap((path) => (parse(readFileSync(path, 'utf8')) as RuleTests).tests).flatMap(
    (one) => one.alert_rule_test,
  );
  const names = alerts().map(({ alert }) => alert);
  t.strictSame(
    names.filter((name) => !cases.some(({ alertname, exp_alerts }) => alertname === name && exp_alerts.length > 0)),
    [],
    'never fire',
  );
  t.strictSame(
    names.filter((name) => !cases.some(({ alertname, exp_alerts }) => alertname === name && exp_alerts.length === 0)),
    [],
    'are never silent',
  );
  t.strictSame(
    cases.filter(({ alertname }) => !names.includes(alertname)),
    [],
    'tests of alerts that are gone',
  );
  t.end();
});

t.test('every alert says how bad it is and links to its runbook, which says the same', (t) => {
  for (const { alert, labels, annotations } of alerts()) {
    const path = `docs/runbooks/${alert}.md`;
    t.equal(annotations?.['runbook_url'], path);
    t.ok(annotations?.['summary'] && annotations['description'], `${alert} says what is wrong`);
    t.match(
      readFileSync(join(packageRoot, path), 'utf8'),
      new RegExp(`^# ${alert}\n\n\`${labels?.['severity'] ?? 'no severity'}\`: .{100}`, 's'),
      `${alert} has its runbook`,
    );
  }
  const runbooks = readdirSync(join(packageRoot, 'docs/runbooks'))
    .filter((name) => name !== 'README.md')
    .map((name) => name.replace(/\.md$/, ''));
  t.strictSame(
    runbooks.sort(),
    alerts()
      .map(({ alert }) => alert)
      .sort(),
    'no runbook without its alert',
  );
  t.end();
});

t.test('Prometheus takes our configuration and finds the rules', (t) => {
  const { status, said } = promtool('check', 'config', join(packageRoot, 'grafana/prometheus.yaml'));
  t.equal(status, 0, said);
  t.match(said, /SUCCESS: 3 rule files found/);
  t.end();
});
