import { parseArgs } from 'node:util';
import { SCENARIOS, type Scenario } from './scenarios.js';
import { SUBJECTS, type SubjectName } from './subjects/subject.js';

const NAMES = SCENARIOS.map(({ name }) => name).join(', ');

export const USE = `npm run bench -- [--rounds 1..100] [--seconds 1..60] [--scenario a,b | --all] [--only a,b]
  [--json FILE] [--svg FILE] [--load wrk | node]
  [--against FOLDER [--pairs 1..100]]  only Petgate, beside another build of it
  scenarios: ${NAMES}
  subjects:  ${SUBJECTS.join(', ')}`;

export interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly scenarios: readonly Scenario[];
  readonly subjects: ReadonlySet<SubjectName>;
  readonly json: string | undefined;
  readonly svg: string | undefined;
  readonly load: 'wrk' | 'node';
  /** The root of another build of Petgate. */
  readonly against: string | undefined;
  /** Processes of each of both builds. */
  readonly pairs: number;
}

/** Throws an error that says what is wrong. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: text,
      seconds: text,
      scenario: text,
      only: text,
      json: text,
      svg: text,
      load: text,
      against: text,
      pairs: text,
      all: { type: 'boolean', default: false },
    },
  });
  const { load = 'wrk' } = values;
  if (load !== 'wrk' && load !== 'node') throw new Error('--load must be wrk or node');
  return {
    rounds: wholeNumber('rounds', values.rounds ?? (values.against === undefined ? '9' : '30'), 100),
    seconds: wholeNumber('seconds', values.seconds ?? '1', 60),
    scenarios: scenariosOf(values.scenario, values.all),
    subjects: new Set(chosen('only', values.only, SUBJECTS)),
    json: values.json,
    svg: values.svg,
    load,
    against: values.against,
    pairs: wholeNumber('pairs', values.pairs ?? '16', 100),
  };
}

function scenariosOf(named: string | undefined, all: boolean): readonly Scenario[] {
  if (named === undefined) return SCENARIOS.filter(({ extra = false }) => all || !extra);
  const names = chosen(
    'scenario',
    named,
    SCENARIOS.map(({ name }) => name),
  );
  return SCENARIOS.filter(({ name }) => names.includes(name));
}

function chosen<Name extends string>(
  option: string,
  value: string | undefined,
  names: readonly Name[],
): readonly Name[] {
  if (value === undefined) return names;
  return value.split(',').map((one) => {
    const name = names.find((known) => known === one);
    if (name === undefined) throw new Error(`--${option}: there is no ${one}; there are ${names.join(', ')}`);
    return name;
  });
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new Error(`--${name} must be a whole number from 1 to ${most}`);
  return value;
}
