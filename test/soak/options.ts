import { parseArgs } from 'node:util';

export const USE = `npm run soak -- [--minutes 1..1440] [--rate 1..20000] [--cpus 1|2] [--workers 1..16]
                   [--store embedded|redis] [--program FILE]
  --minutes  how long, default 10      --rate     requests a second, default 5000
  --cpus     processors of the gateway and all it starts, default 1; load, upstream and Redis have the others
  --workers  processes that serve, default 1
  --program  dist/program/main.js of another build`;

export interface SoakOptions {
  readonly minutes: number;
  readonly rate: number;
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
    options: { minutes: text, rate: text, cpus: text, workers: text, store: text, program: text },
  });
  const { store = 'embedded' } = values;
  if (store !== 'embedded' && store !== 'redis') throw new Error('--store must be embedded or redis');
  return {
    minutes: numberOf('minutes', values.minutes ?? '10', 1440),
    rate: numberOf('rate', values.rate ?? '5000', 20_000),
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
