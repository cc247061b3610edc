/** Grafana puts a window in here that always spans several scrapes. */
const WINDOW = '[$__rate_interval]';

/** Per second, summed by `by`; one line when it is empty. */
export function rate(selector: string, by = ''): string {
  return `sum${by === '' ? ' ' : ` by (${by}) `}(rate(${selector}${WINDOW}))`;
}

/** A quantile of a histogram over all gateways. */
export function quantile(share: number, histogram: string, by = '', labels = ''): string {
  return (
    `histogram_quantile(${share}, sum by (${by === '' ? 'le' : `le, ${by}`}) ` +
    `(rate(${histogram}_bucket${labels}${WINDOW})))`
  );
}

/** The mean of a histogram's values. */
export function mean(histogram: string, by = ''): string {
  return `${rate(`${histogram}_sum`, by)} / ${rate(`${histogram}_count`, by)}`;
}

/** How much a counter grew over the time the dashboard shows. */
export function total(selector: string, by = ''): string {
  return `sum${by === '' ? ' ' : ` by (${by}) `}(increase(${selector}[$__range]))`;
}
