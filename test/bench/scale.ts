import { parseArgs } from 'node:util';
import { MEASURED, type Costs } from './scale/costs.js';
import { most, simulate, type Outcome, type Setting, type Wall } from './scale/simulate.js';

/**
 * What a number of gateways and Redis masters carry, and what the next wall is, computed from unit costs: a seeded
 * simulation of requests whose keys are as unequally active as they are in life. The same options give the same
 * output on every machine.
 *
 *     node dist/test/bench/scale.js --masters 6 --gateways 12 --keys 100000 --skew 1.1 --seed 7
 *
 * Masters, gateways and skew may be lists (`1,3,6`): one line for each combination. Without `--rate` it looks for
 * the most with which no processor is busier than `--busy`.
 */
const USE = `node dist/test/bench/scale.js [--masters 1,3,6] [--gateways 4,12] [--keys 100000] [--skew 0,1.1]
  [--seed 7] [--requests 10000] [--busy 0.7 | --rate <requests per second>] [--json] [${Object.keys(MEASURED)
    .map((name) => `--${name} µs`)
    .join('] [')}]`;

type Line = Setting & Outcome & { readonly wall?: Wall };

function main(args: readonly string[]): string {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...texts(['masters', 'gateways', 'keys', 'skew', 'seed', 'requests', 'busy', 'rate', ...Object.keys(MEASURED)]),
      json: { type: 'boolean' },
    },
  });
  const { json = false, ...given } = values as { readonly json?: boolean } & Readonly<
    Record<string, string | undefined>
  >;
  const all = (name: string, otherwise: string, least: number, highest: number): readonly number[] =>
    (given[name] ?? otherwise).split(',').map((text) => number(name, text, least, highest));
  const one = (name: string, otherwise: string, least: number, highest: number): number =>
    number(name, given[name] ?? otherwise, least, highest);
  const costs = Object.fromEntries(
    Object.entries<number>({ ...MEASURED }).map(([name, us]) => [name, one(name, us.toString(), 0, 100_000)]),
  ) as unknown as Costs;
  const common = {
    keys: whole('keys', one('keys', '100000', 1, 10_000_000)),
    seed: whole('seed', one('seed', '7', 0, 2 ** 32 - 1)),
    requests: whole('requests', one('requests', '10000', 1_000, 10_000_000)),
    costs,
  };
  const busy = one('busy', '0.7', 0.01, 1);
  const rate = given['rate'] === undefined ? undefined : one('rate', '', 1, 100_000_000);
  const lines: Line[] = [];
  for (const masters of all('masters', '6', 1, 1_000)) {
    for (const gateways of all('gateways', '12', 1, 10_000)) {
      for (const skew of all('skew', '1.1', 0, 10)) {
        const setting = { masters: whole('masters', masters), gateways: whole('gateways', gateways), skew, ...common };
        lines.push({ ...setting, ...(rate === undefined ? most(setting, busy) : simulate(setting, rate)) });
      }
    }
  }
  return json ? JSON.stringify(lines) : tableOf(lines);
}

function texts(names: readonly string[]): Record<string, { readonly type: 'string' }> {
  return Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
}

function number(name: string, text: string, least: number, highest: number): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= least && value <= highest))
    throw new Error(`--${name} must be a number from ${least} to ${highest}, not "${text}"`);
  return value;
}

function whole(name: string, value: number): number {
  if (!Number.isInteger(value)) throw new Error(`--${name} must be a whole number, not ${value}`);
  return value;
}

function tableOf(lines: readonly Line[]): string {
  const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;
  const rows = lines.map((line) => [
    line.masters.toString(),
    line.gateways.toString(),
    line.skew.toString(),
    line.perSecond.toFixed(0),
    percent(line.gatewayBusy),
    percent(line.redisBusy),
    percent(line.redisMeanBusy),
    `${(line.hottestShare * 100).toFixed(1)} %`,
    line.batch.toFixed(1),
    line.p50Ms.toFixed(2),
    line.p99Ms.toFixed(2),
    line.wall ?? '',
  ]);
  const head = [
    'masters',
    'gateways',
    'skew',
    'requests/s',
    'gateway',
    'Redis',
    'mean',
    'hottest key',
    'batch',
    'p50 ms',
    'p99 ms',
    'wall',
  ];
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padStart(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

try {
  process.stdout.write(`${main(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USE}\n`);
  process.exitCode = 1;
}
