import { ratioOf, spreadOf } from './figures.js';
import type { Sample, Spread } from './figures.js';
import { nameOf } from './scenarios.js';
import type { Bar, Case, Scenario } from './scenarios.js';
import type { LeftOut } from './subjects/fleet.js';

export interface CaseReport extends Pick<Case, 'subject' | 'variant'> {
  readonly name: string;
  /** µs per request. */
  readonly gatewayUs: Spread;
  readonly storeUs: Spread;
  readonly totalUs: Spread;
  readonly rssMiB: number;
  readonly requestsPerRound: number;
  readonly latencyMs?: { readonly p50: number; readonly p99: number; readonly p999: number };
  /** By the subject it is beside: of the gateway alone beside `bare`, with the store beside the others. */
  readonly ratios: Readonly<Record<string, Spread>>;
}

export interface BarReport extends Bar {
  readonly ratio: Spread;
  readonly met: boolean;
}

export interface ScenarioReport {
  readonly name: string;
  readonly title: string;
  readonly rounds: number;
  readonly seconds: number;
  /** Requests per second, where they came at a constant rate. */
  readonly rate?: number;
  readonly cases: readonly CaseReport[];
  readonly bars: readonly BarReport[];
  readonly leftOut: readonly LeftOut[];
}

export type Samples = ReadonlyMap<string, readonly Sample[]>;

const BESIDE = ['bare', 'nginx', 'fastify', 'express'] as const;

export function caseReports({ cases }: Scenario, samples: Samples): readonly CaseReport[] {
  return cases.filter((one) => samples.has(nameOf(one))).map((one) => {
    const own = samples.get(nameOf(one))!;
    const others = BESIDE.map((subject) => [subject, samples.get(nameOf({ ...one, subject }))] as const);
    const latencies = own.flatMap(({ latencyMs }) => latencyMs ?? []);
    const median = (values: readonly number[]): number => spreadOf(values).median;
    return {
      name: nameOf(one), subject: one.subject, variant: one.variant,
      gatewayUs: spreadOf(own.map(({ gatewayUs }) => gatewayUs)),
      storeUs: spreadOf(own.map(({ storeUs }) => storeUs)),
      totalUs: spreadOf(own.map(({ gatewayUs, storeUs }) => gatewayUs + storeUs)),
      rssMiB: Math.max(...own.map(({ rssMiB }) => rssMiB)),
      requestsPerRound: Math.round(median(own.map(({ requests }) => requests))),
      ...(latencies.length === 0 ? {} : { latencyMs: { p50: median(latencies.map(({ p50 }) => p50)), p99: median(latencies.map(({ p99 }) => p99)), p999: median(latencies.map(({ p999 }) => p999)) } }),
      ratios: Object.fromEntries(others.flatMap(([subject, other]) => (other === undefined ? [] : [[subject, ratioOf(own, other, subject === 'bare' ? 'gateway' : 'gateway + store')]]))),
    };
  });
}

/** Bars of which a side was not measured are left out. */
export function barReports({ bars }: Scenario, samples: Samples): readonly BarReport[] {
  return bars.flatMap((bar) => {
    const [of, to] = [samples.get(bar.of), samples.get(bar.to)];
    if (of === undefined || to === undefined) return [];
    const ratio = ratioOf(of, to, bar.figure);
    return [{ ...bar, ratio, met: ratio.median <= bar.most }];
  });
}

const spreadText = ({ median, p25, p75, min, max }: Spread): string => `${median.toFixed(2)} (${p25.toFixed(2)}–${p75.toFixed(2)}; ${min.toFixed(2)}–${max.toFixed(2)})`;

/** For people: figures, then bars. */
export function textOf(report: ScenarioReport): string {
  const { title, rounds, seconds, rate, cases, bars, leftOut } = report;
  const latency = cases.some(({ latencyMs }) => latencyMs !== undefined);
  const header = ['', 'gateway µs', 'store µs', 'sum µs', ...(latency ? ['p50 ms', 'p99 ms', 'p99.9 ms'] : []), 'peak MiB', ...BESIDE.map((subject) => `× ${subject}`)];
  const rows = cases.map(({ name, gatewayUs, storeUs, totalUs, rssMiB, latencyMs, ratios }) => [
    name, gatewayUs.median.toFixed(1), storeUs.median.toFixed(1), totalUs.median.toFixed(1),
    ...(latency ? [latencyMs?.p50, latencyMs?.p99, latencyMs?.p999].map((ms) => ms?.toFixed(2) ?? '') : []),
    rssMiB.toFixed(0), ...BESIDE.map((subject) => (ratios[subject] === undefined ? '' : ratios[subject].median.toFixed(2))),
  ]);
  return [
    `${title} (${rounds} rounds of ${seconds} s${rate === undefined ? '' : `, ${rate} requests/s`})`,
    tableOf([header, ...rows]),
    ...(bars.length === 0 ? [] : [tableOf(bars.map(({ met, of, figure, to, most, ratio }) => [met ? 'met' : 'NOT MET', `${of} / ${to}`, figure, `≤ ${most.toFixed(2)}`, spreadText(ratio)]))]),
    ...leftOut.map(({ name, why }) => `left out: ${name} (${why})`),
    '',
  ].join('\n');
}

/** The first two columns that hold words to the left, figures to the right. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const isFigure = (text: string): boolean => /^[\d.]*$|^[×µ]| (µs|ms|MiB)$/.test(text);
  return rows.map((row) => `  ${row.map((text, column) => (isFigure(text) ? text.padStart(widths[column]!) : text.padEnd(widths[column]!))).join('  ').trimEnd()}`).join('\n');
}
