import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  GraphGradientMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
} from '@grafana/grafana-foundation-sdk/common';
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common';
import {
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import type { Panel as PanelJson } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** Chosen at the top of each dashboard, so that it can be imported anywhere. */
const SOURCE: DataSourceRef = { type: 'prometheus', uid: '${datasource}' };

export type Panel = Builder<PanelJson>;
/** A row of a dashboard with its panels. */
export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** What a panel says of itself: its unit as Grafana names it, and what an operator reads from it. */
interface About {
  readonly title: string;
  readonly unit: string;
  readonly description: string;
  /** Drawn on top of each other, to show a whole and its parts. */
  readonly stacked?: boolean;
  /** Upper end of the axis. */
  readonly max?: number;
}

/** By legend, which may hold `{{label}}`: the query. */
type Queries = Readonly<Record<string, string>>;

/** Lines over time, half a row wide. */
export function graph(about: About, queries: Queries): Panel {
  const panel = new TimeseriesBuilder()
    .span(12)
    .height(8)
    .min(0)
    .fillOpacity(10)
    .gradientMode(GraphGradientMode.Opacity)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending));
  if (about.stacked === true) panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
  if (about.max !== undefined) panel.max(about.max);
  return described(panel, about, queries);
}

/** One figure as of now, a quarter of a row wide. */
export function figure(about: About, queries: Queries): Panel {
  return described(
    new StatBuilder()
      .span(6)
      .height(4)
      .colorMode(BigValueColorMode.None)
      .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull'])),
    about,
    queries,
  );
}

function described<Kind extends TimeseriesBuilder | StatBuilder>(
  panel: Kind,
  { title, unit, description }: About,
  queries: Queries,
): Kind {
  panel.title(title).unit(unit).description(description).datasource(SOURCE);
  for (const [index, [legend, expr]] of Object.entries(queries).entries()) {
    panel.withTarget(
      new DataqueryBuilder().refId('ABCDEFGH'.charAt(index)).datasource(SOURCE).expr(expr).legendFormat(legend),
    );
  }
  return panel;
}
