import { type Json, listIn } from '../client.js';
import { cell, keyValues, styled, table } from '../output.js';

/** Arguments and options as they were given. */
export type Values = Readonly<Record<string, string | undefined>>;

/** How an answer is shown to people. */
export interface Show {
  readonly text: (answer: Json, values: Values) => string;
  /** There is no JSON: the answer says nothing. */
  readonly isQuiet?: true;
  /** A listing that comes in pages: the name of its list. */
  readonly pages?: string;
}

/** A column: the field of its name, or what a function makes of a row. */
type Column = string | readonly [heading: string, valueOf: (row: Json) => unknown];

/** A sentence, in which `{id}` is the argument of that name. */
export function done(sentence: string | ((values: Values, answer: Json) => string)): Show {
  return {
    isQuiet: true,
    text: (answer, values) =>
      typeof sentence === 'function'
        ? sentence(values, answer)
        : sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
  };
}

/** A row for each item of the answer's list; `none` where there is none. */
export function list(name: string, columns: readonly Column[], none: string | Show['text']): Show {
  return {
    text: (answer, values) => {
      const rows = listIn(answer, name);
      if (rows.length > 0) return rowsOf(columns, rows);
      return typeof none === 'string' ? none : none(answer, values);
    },
  };
}

/** A listing that comes in pages, which are all asked for. */
export function pages(...args: Parameters<typeof list>): Show {
  return { ...list(...args), pages: args[0] };
}

export function rowsOf(columns: readonly Column[], rows: readonly Json[]): string {
  return table(
    columns.map((column) => (typeof column === 'string' ? column : column[0])),
    rows.map((row) =>
      columns.map((column) => {
        const value = typeof column === 'string' ? row[column] : column[1](row);
        return typeof value === 'number' ? value : readable(value);
      }),
    ),
  );
}

/** A field a line; of all fields, or of these. */
export function record(names?: readonly string[]): Show {
  return { text: (answer) => recordOf(answer, names) };
}

/** What holds a secret, which is shown this once; `then` shows the rest. */
export function issued(title: string, secret: string, then: (rest: Json) => string): Show {
  return {
    text: ({ [secret]: shown, ...rest }) =>
      `${title} It is shown only this once:\n\n  ${styled('bold', cell(shown))}\n\n${then(rest)}`,
  };
}

export function recordOf(answer: Json, names: readonly string[] = Object.keys(answer)): string {
  return keyValues(names.map((name) => [name, (WORDS[name] ?? readable)(answer[name])]));
}

/** A value of any kind as words: `minute 60, day 1000`. */
export function readable(value: unknown): string {
  if (typeof value !== 'object' || value === null) return cell(value);
  if (!Array.isArray(value))
    return (
      Object.entries(value)
        .map(([name, part]) => `${cell(name)} ${readable(part)}`)
        .join(', ') || '-'
    );
  const isOfObjects = value.some((item) => typeof item === 'object');
  return value.map(readable).join(isOfObjects ? '; ' : ', ') || '-';
}

/** `+500 a day until 2027-01-31T00:00:00.000Z`, for each of them. */
function grantsIn(grants: unknown): string {
  const texts = (grants as readonly Json[]).map(
    ({ window, units, until }) => `+${cell(units)} a ${cell(window)} until ${cell(until)}`,
  );
  return cell(texts.join(', '));
}

/** `never expires; until 2027-01-31T00:00:00.000Z`: the newest first. */
function secretsIn(secrets: unknown): string {
  return (secrets as readonly Json[])
    .map(({ ends }) => (ends === null ? 'never expires' : `until ${cell(ends)}`))
    .join('; ');
}

/** `until 2027-01-31T00:00:00.000Z, level 1, by petgate: too many requests after 429`; a dash where there is none. */
function banIn(ban: unknown): string {
  if (ban === null) return cell(null);
  const { until, level, by, reason } = ban as Json;
  return `until ${cell(until)}, level ${cell(level)}, by ${cell(by)}${reason === null ? '' : `: ${cell(reason)}`}`;
}

/** Fields that are not shown as they are in the answer. */
const WORDS: Readonly<Record<string, (value: unknown) => string>> = {
  ban: banIn,
  grants: grantsIn,
  secrets: secretsIn,
};

/** The day of a moment. */
export function dayIn(name: string): Column {
  return [name, ({ [name]: date }) => (typeof date === 'string' ? date.slice(0, 10) : null)];
}

export const HISTORY = list(
  'history',
  ['at', ['by', ({ actor }) => actor], 'action', ['changed', ({ changed }) => changesIn(changed)]],
  'No history.',
);

/** `plan: free → pro, name: My app` */
function changesIn(changed: unknown): string {
  const one = (value: unknown): string => {
    const step = value as { readonly from?: unknown; readonly to?: unknown } | null;
    return typeof step === 'object' && step !== null && 'from' in step && 'to' in step
      ? `${readable(step.from)} → ${readable(step.to)}`
      : readable(value);
  };
  const fields = Object.entries(changed as Json).filter(([, value]) => value !== null);
  return fields.map(([field, value]) => `${field}: ${one(value)}`).join(', ');
}
