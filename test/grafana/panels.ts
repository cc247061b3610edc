import { dashboardFiles } from '../../grafana/source/dashboards.js';

/** The part of a panel's JSON that tests look at. */
interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** All dashboards with their panels, rows left out. */
export function dashboards(): readonly { readonly title: string; readonly panels: readonly PanelJson[] }[] {
  return dashboardFiles().map(([, text]) => {
    const { title, panels } = JSON.parse(text) as { title: string; panels: PanelJson[] };
    return { title, panels: panels.filter(({ type }) => type !== 'row') };
  });
}
