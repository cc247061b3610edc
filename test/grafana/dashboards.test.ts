import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { dashboardFiles } from '../../grafana/source/dashboards.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { dashboards } from './panels.js';

const at = (path: string): string => join(packageRoot, 'grafana', path);

t.test('the committed dashboards are those the source makes', (t) => {
  const committed = readdirSync(at('dashboards'))
    .sort()
    .map((name) => [name, readFileSync(at(`dashboards/${name}`), 'utf8')]);
  t.strictSame(
    committed,
    [...dashboardFiles()].sort(([a], [b]) => (a < b ? -1 : 1)),
    'run node dist/grafana/source/write.js',
  );
  t.end();
});

t.test('every panel says what it shows, in which unit, and has its own number', (t) => {
  for (const { title, panels } of dashboards()) {
    t.ok(panels.length >= 10, title);
    for (const panel of panels) {
      t.ok((panel.description?.length ?? 0) > 30, `${title}, ${panel.title}: described`);
      t.ok(panel.fieldConfig.defaults.unit, `${title}, ${panel.title}: has a unit`);
      t.ok(
        panel.targets.length > 0 && panel.targets.every(({ expr, legendFormat }) => expr !== '' && legendFormat !== ''),
        `${title}, ${panel.title}: asks something`,
      );
    }
    t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    t.equal(new Set(panels.map((panel) => panel.title)).size, panels.length, 'and its own title');
  }
  t.end();
});

t.test('no panel lies over another', (t) => {
  for (const { title, panels } of dashboards()) {
    for (const { gridPos: a, id } of panels) {
      const over = panels.filter(
        ({ gridPos: b, id: other }) =>
          other > id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      );
      t.strictSame(
        over.map((panel) => panel.title),
        [],
        `${title}: ${id}`,
      );
      t.ok(a.x + a.w <= 24);
    }
  }
  t.end();
});

t.test('Grafana is told where dashboards and figures are', (t) => {
  const source = parse(readFileSync(at('provisioning/datasources/prometheus.yaml'), 'utf8')) as {
    datasources: { type: string; jsonData: { timeInterval: string } }[];
  };
  const prometheus = parse(readFileSync(at('prometheus.yaml'), 'utf8')) as { global: { scrape_interval: string } };
  t.equal(source.datasources[0]?.type, 'prometheus');
  t.equal(source.datasources[0]?.jsonData.timeInterval, prometheus.global.scrape_interval, 'or rates would have holes');
  const { providers } = parse(readFileSync(at('provisioning/dashboards/petgate.yaml'), 'utf8')) as {
    providers: { type: string }[];
  };
  t.equal(providers[0]?.type, 'file');
  t.end();
});
