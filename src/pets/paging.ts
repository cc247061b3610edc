import { parseInt64, parseStatus } from './pet.js';
import { PET_STATUSES, type Pet, type PetStatus } from './store/port.js';
import { listed, Refusal, shown } from './refusal.js';

interface ListQuery {
  /** Only pets with a greater id; 0 for the first page. */
  readonly afterId: bigint;
  readonly limit: number;
  readonly status: PetStatus | undefined;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const PARAMETERS = ['limit', 'status', 'cursor'];

/**
 * Parses the query of listPets (contract 4.1), which is the part after `?`. Returns a refusal that names every wrong
 * parameter.
 */
export function parseListQuery(search: string): ListQuery | Refusal {
  const sent = new URLSearchParams(search);
  const mistakes: string[] = [];
  const read = <T>(
    name: string,
    parse: (text: string) => T | undefined,
    mistake: (text: string) => string,
  ): T | undefined => {
    const [text, ...more] = sent.getAll(name);
    if (text === undefined) return undefined;
    const value = more.length > 0 ? undefined : parse(text);
    if (value === undefined)
      mistakes.push(more.length > 0 ? `${name} is in the query twice. Send it once.` : mistake(text));
    return value;
  };
  const limit = read('limit', parseLimit, () => `limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  const status = read(
    'status',
    parseStatus,
    (text) => `status must be one of ${PET_STATUSES.join(', ')}, not ${shown(text)}.`,
  );
  // A cursor belongs to one status filter; if the status is invalid, the cursor cannot be checked.
  const isFilterKnown = status !== undefined || !sent.has('status');
  const afterId = read(
    'cursor',
    (text) => (isFilterKnown ? readCursor(text, status) : 0n),
    () => 'cursor does not belong to this list. Follow the next link unchanged, or omit cursor to start again.',
  );
  const unknown = unknownParameters(sent, PARAMETERS);
  if (unknown !== undefined) mistakes.push(unknown);
  return mistakes.length > 0
    ? new Refusal('invalid_parameter', mistakes.join(' '))
    : { afterId: afterId ?? 0n, limit: limit ?? DEFAULT_LIMIT, status };
}

/** Refuses any query parameter of an operation that has none. */
export function refuseQuery(search: string): Refusal | undefined {
  const unknown = unknownParameters(new URLSearchParams(search), []);
  return unknown === undefined ? undefined : new Refusal('invalid_parameter', unknown);
}

/** Returns the Link header (RFC 8288) to the page after `last`. */
export function nextLink(query: ListQuery, last: Pet): string {
  const filter = query.status === undefined ? '' : `&status=${query.status}`;
  return `</v1/pets?limit=${query.limit}${filter}&cursor=${writeCursor(last.id, query.status)}>; rel="next"`;
}

function unknownParameters(sent: URLSearchParams, known: readonly string[]): string | undefined {
  const unknown = [...new Set(sent.keys())].filter((name) => !known.includes(name));
  if (unknown.length === 0) return undefined;
  const one = unknown.length === 1;
  return (
    `The query ${one ? 'parameter' : 'parameters'} ${listed(unknown)} not known here. Leave ` +
    `${one ? 'it' : 'them'} out.`
  );
}

function parseLimit(text: string): number | undefined {
  return /^[1-9][0-9]{0,2}$/.test(text) && Number(text) <= MAX_LIMIT ? Number(text) : undefined;
}

/** Encodes version, last id and filter; the version lets a later release recognize this one's cursors. */
function writeCursor(afterId: bigint, status: PetStatus | undefined): string {
  return Buffer.from(`1 ${afterId.toString()} ${status ?? '*'}`).toString('base64url');
}

/** Returns the id after which the cursor continues; undefined if it is broken or belongs to another filter. */
function readCursor(cursor: string, status: PetStatus | undefined): bigint | undefined {
  const afterId = parseInt64(Buffer.from(cursor, 'base64url').toString('latin1').split(' ')[1] ?? '');
  // Accepts only the exact text that writeCursor produces.
  if (afterId === undefined || afterId < 1n || writeCursor(afterId, status) !== cursor) return undefined;
  return afterId;
}
