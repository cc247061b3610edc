import { listIn, type Json } from '../client.js';
import { keyValues, styled, table } from '../output.js';
import { cell, readable } from '../../shared/readable.js';
import type { Column, Values, Prints } from '../../gateway/actions/command.js';

/** What people read of an answer. */
export function textOf(prints: Prints | undefined, answer: Json, given: Values, secret = ''): string {
  if (prints === undefined) return recordOf(answer);
  if ('done' in prints)
    return typeof prints.done === 'string' ? filled(prints.done, given) : prints.done(given, answer);
  if ('text' in prints) return prints.text(answer);
  if ('issued' in prints) return issuedText(prints, answer, secret);
  if ('list' in prints) return listText(prints, answer, given);
  throw new Error('what comes as a stream is printed as it comes');
}

function filled(sentence: string, given: Values): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '');
}

function issuedText({ issued, note }: Extract<Prints, { issued: string }>, answer: Json, secret: string): string {
  const { [secret]: shown, ...rest } = answer;
  const more = note?.(answer) ?? null;
  const said = `${issued} It is shown only this once:\n\n  ${styled('bold', cell(shown))}\n\n${recordOf(rest)}`;
  return more === null ? said : `${said}\n\n${more}`;
}

function listText(
  { list, columns, none, note }: Extract<Prints, { list: unknown }>,
  answer: Json,
  given: Values,
): string {
  const rows = typeof list === 'string' ? listIn(answer, list) : list(answer);
  const text = rows.length > 0 ? rowsOf(columns, rows) : typeof none === 'string' ? none : none(given, answer);
  const more = note?.(answer) ?? null;
  return more === null ? text : `${text}\n${more}`;
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

/** A line for each field. */
export function recordOf(answer: Json): string {
  return keyValues(Object.entries(answer).map(([name, value]) => [name, (WORDS[name] ?? readable)(value)]));
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
