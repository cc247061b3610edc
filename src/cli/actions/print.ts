import { listIn, type Json } from '../admin/admin-client.js';
import { keyValues, styled, table } from '../terminal/output.js';
import { cell, readable } from '../../shared/text/readable.js';
import type { Column, Values, Prints } from '../../gateway/actions/command.js';

/** Formats a response for people. @param secret name of the field that is shown only once */
export function textOf(prints: Prints | undefined, response: Json, given: Values, secret = ''): string {
  if (prints === undefined) return recordOf(response);
  if ('done' in prints)
    return typeof prints.done === 'string' ? filled(prints.done, given) : prints.done(given, response);
  if ('text' in prints) return prints.text(response);
  if ('issued' in prints) return issuedText(prints, response, secret);
  if ('list' in prints) return listText(prints, response, given);
  throw new Error('a streamed response has no text');
}

function filled(sentence: string, given: Values): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '');
}

function issuedText({ issued, note }: Extract<Prints, { issued: string }>, response: Json, secret: string): string {
  const { [secret]: shown, ...rest } = response;
  const more = note?.(response) ?? null;
  const said = `${issued} It is shown only this once:\n\n  ${styled('bold', cell(shown))}\n\n${recordOf(rest)}`;
  return more === null ? said : `${said}\n\n${more}`;
}

function listText(
  { list, columns, none, note }: Extract<Prints, { list: unknown }>,
  response: Json,
  given: Values,
): string {
  const rows = typeof list === 'string' ? listIn(response, list) : list(response);
  const text = rows.length > 0 ? rowsOf(columns, rows) : typeof none === 'string' ? none : none(given, response);
  const more = note?.(response) ?? null;
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

/** Formats a response as a line for each field. */
export function recordOf(response: Json): string {
  return keyValues(Object.entries(response).map(([name, value]) => [name, (WORDS[name] ?? readable)(value)]));
}

/** `+500 a day until 2027-01-31T00:00:00.000Z`, for each grant. */
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

/** Fields with a format of their own. */
const WORDS: Readonly<Record<string, (value: unknown) => string>> = {
  ban: banIn,
  grants: grantsIn,
  secrets: secretsIn,
};
