import { parseArgs } from 'node:util';

export const USE = `npm run soak -- [--minutes 1..1440] [--share 1..100 | --rate 1..20000] [--cpus 1|2]
                   [--workers 1..16] [--store embedded|redis] [--program FILE]
  --minutes  how long, default 10
  --share    percent of the most this machine serves, which is measured first; default 40
  --rate     requests a second, whatever the machine
  --cpus     processors of the gateway and all it starts, default 1; load, upstream and Redis have the others
  --workers  processes that serve, default 1
  --program  dist/program/main.js of another build`;

export interface SoakOptions {
  readonly minutes: number;
  /** Requests a second; null: `share` of what the machine can serve. */
  readonly rate: number | null;
  /** Of the peak, 0 to 1. */
  readonly share: number;
  readonly cpus: number;
  readonly workers: number;
  readonly store: 'embedded' | 'redis';
  /** Whether a late answer breaks the promise: not beside other work. */
  readonly isTimed: boolean;
  /** The command line of the build that is tried; undefined for this one. */
  readonly program: string | undefined;
}

/** Throws an error that says what is wrong. */
export function readOptions(args: readonly string[]): SoakOptions {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: text, rate: text, share: text, cpus: text, workers: text, store: text, program: text },
  });
  const { store = 'embedded' } = values;
  if (store !== 'embedded' && store !== 'redis') throw new Error('--store must be embedded or redis');
  if (values.rate !== undefined && values.share !== undefined) throw new Error('give --rate or --share, not both');
  return {
    minutes: numberOf('minutes', values.minutes ?? '10', 1440),
    rate: values.rate === undefined ? null : numberOf('rate', values.rate, 20_000),
    share: numberOf('share', values.share ?? '40', 100) / 100,
    cpus: numberOf('cpus', values.cpus ?? '1', 2),
    workers: numberOf('workers', values.workers ?? '1', 16),
    store,
    isTimed: true,
    program: values.program,
  };
}

function numberOf(option: string, value: string, most: number): number {
  const number = Number(value);
  if (/^\d+(\.\d+)?$/.test(value) && number > 0 && number <= most) return number;
  throw new Error(`--${option} must be a number up to ${most}`);
}
