import { ratioOf, spreadOf, type Sample, type Spread } from './figures.js';
import { nameOf, type Bar, type Case, type Scenario } from './scenarios.js';
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
  /** The longest turn of the event loop of each of Petgate's gateways in one more round, ms of CPU time. */
  readonly longestTurnsMs: Readonly<Record<string, number>>;
}

type Samples = ReadonlyMap<string, readonly Sample[]>;

const BESIDE = ['bare', 'nginx', 'fastify', 'express'] as const;

export function caseReports({ cases }: Scenario, samples: Samples): readonly CaseReport[] {
  return cases
    .filter((one) => samples.has(nameOf(one)))
    .map((one) => {
      const own = samples.get(nameOf(one))!;
      const others = BESIDE.map((subject) => [subject, samples.get(nameOf({ ...one, subject }))] as const);
      const latencies = own.flatMap(({ latencyMs }) => latencyMs ?? []);
      const median = (values: readonly number[]): number => spreadOf(values).median;
      return {
        name: nameOf(one),
        subject: one.subject,
        variant: one.variant,
        gatewayUs: spreadOf(own.map(({ gatewayUs }) => gatewayUs)),
        storeUs: spreadOf(own.map(({ storeUs }) => storeUs)),
        totalUs: spreadOf(own.map(({ gatewayUs, storeUs }) => gatewayUs + storeUs)),
        rssMiB: Math.max(...own.map(({ rssMiB }) => rssMiB)),
        requestsPerRound: Math.round(median(own.map(({ requests }) => requests))),
        ...(latencies.length === 0
          ? {}
          : {
              latencyMs: {
                p50: median(latencies.map(({ p50 }) => p50)),
                p99: median(latencies.map(({ p99 }) => p99)),
                p999: median(latencies.map(({ p999 }) => p999)),
              },
            }),
        ratios: Object.fromEntries(
          others.flatMap(([subject, other]) =>
            other === undefined
              ? []
              : [[subject, ratioOf(own, other, subject === 'bare' ? 'gateway' : 'gateway + store')]],
          ),
        ),
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

/** For people: figures, then bars. */
export function textOf(report: ScenarioReport): string {
  const { title, rounds, seconds, rate, cases, bars, leftOut, longestTurnsMs } = report;
  return [
    `${title} (${rounds} rounds of ${seconds} s${rate === undefined ? '' : `, ${rate} requests/s`})`,
    tableOf([COLUMNS.map(({ head }) => head), ...cases.map((one) => COLUMNS.map(({ text }) => text(one) ?? ''))]),
    ...(bars.length === 0 ? [] : ['', tableOf([BAR_HEADS, ...bars.map(barRow)])]),
    ...Object.entries(longestTurnsMs).map(
      ([name, ms]) => `  longest block of the event loop, ${name}: ${ms.toFixed(1)} ms of CPU`,
    ),
    ...leftOut.map(({ name, why }) => `left out: ${name} (${why})`),
    '',
  ].join('\n');
}

const COLUMNS: readonly { readonly head: string; readonly text: (one: CaseReport) => string | undefined }[] = [
  { head: '', text: ({ name }) => name },
  { head: 'gateway µs', text: ({ gatewayUs }) => gatewayUs.median.toFixed(1) },
  { head: 'store µs', text: ({ storeUs }) => storeUs.median.toFixed(1) },
  { head: 'sum µs', text: ({ totalUs }) => totalUs.median.toFixed(1) },
  { head: 'p50 ms', text: ({ latencyMs }) => latencyMs?.p50.toFixed(2) },
  { head: 'p99 ms', text: ({ latencyMs }) => latencyMs?.p99.toFixed(2) },
  { head: 'p99.9 ms', text: ({ latencyMs }) => latencyMs?.p999.toFixed(2) },
  { head: 'peak MiB', text: ({ rssMiB }) => rssMiB.toFixed(0) },
  ...BESIDE.map((subject) => ({
    head: `× ${subject}`,
    text: ({ ratios }: CaseReport): string | undefined => ratios[subject]?.median.toFixed(2),
  })),
];

const BAR_HEADS = ['', 'ratio of', 'in', 'bar', 'median', 'p25–p75', 'min–max'];

function barRow({ met, of, figure, to, most, ratio: { median, p25, p75, min, max } }: BarReport): readonly string[] {
  return [
    met ? 'met' : 'NOT MET',
    `${of} / ${to}`,
    figure,
    `≤ ${most.toFixed(2)}`,
    median.toFixed(2),
    `${p25.toFixed(2)}–${p75.toFixed(2)}`,
    `${min.toFixed(2)}–${max.toFixed(2)}`,
  ];
}

/** Numbers to the right, and no column where none has anything. */
function tableOf([heads = [], ...rows]: readonly (readonly string[])[]): string {
  const used = heads.flatMap((_, column) => (rows.some((row) => row[column] !== '') ? [column] : []));
  const isNumbers = (column: number): boolean => rows.every((row) => /^[\d.]*$/.test(row[column] ?? ''));
  const lines = [heads, ...rows].map((row) =>
    used.map((column) => {
      const width = Math.max(...[heads, ...rows].map((one) => (one[column] ?? '').length));
      return isNumbers(column) ? (row[column] ?? '').padStart(width) : (row[column] ?? '').padEnd(width);
    }),
  );
  return lines.map((cells) => `  ${cells.join('  ').trimEnd()}`).join('\n');
}
