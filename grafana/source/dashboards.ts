import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { frontDoor } from './front-door.js';
import { limitsAndBans } from './limits-and-bans.js';
import type { Row } from './panels.js';
import { usageAndBilling } from './usage-and-billing.js';

/** The committed files of grafana/dashboards: name and text. */
export function dashboardFiles(): readonly (readonly [name: string, text: string])[] {
  return [
    fileOf(
      'front-door',
      'Front door',
      'Rate, errors and duration of all requests; how full the gateway and its upstreams are.',
      'now-1h',
      frontDoor,
    ),
    fileOf(
      'limits-and-bans',
      'Limits and bans',
      'Who runs into limits, who is banned, and whether admission is well.',
      'now-6h',
      limitsAndBans,
    ),
    fileOf(
      'usage-and-billing',
      'Usage and billing',
      'What each plan uses, and how much of its day. Invoices come from the ledger.',
      'now-24h',
      usageAndBilling,
    ),
  ];
}

function fileOf(
  name: string,
  title: string,
  description: string,
  from: string,
  rows: readonly Row[],
): readonly [string, string] {
  const dashboard = new DashboardBuilder(`Petgate: ${title}`)
    .uid(`petgate-${name}`)
    .description(description)
    .tags(['petgate'])
    .timezone('utc')
    .refresh('30s')
    .time({ from, to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .link(
      new DashboardLinkBuilder('Petgate')
        .type(DashboardLinkType.Dashboards)
        .tags(['petgate'])
        .asDropdown(false)
        .keepTime(true),
    );
  for (const row of rows) {
    dashboard.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) dashboard.withPanel(panel);
  }
  const { panels = [], ...rest } = dashboard.build();
  // Links to a panel name its number; without one Grafana would give it a new one at each import.
  const numbered = { ...rest, panels: panels.map((panel, index) => ({ ...panel, id: index + 1 })) };
  return [`${name}.json`, `${JSON.stringify(numbered, null, 2)}\n`];
}
