import { parseInt64, parseStatus, PET_STATUSES } from './pet.js';
import type { Pet, PetStatus } from './pet.js';
import { Refusal, shown } from './refusal.js';

/** What one call of listPets asks for. */
export interface ListQuery {
  /** Pets with a greater id; 0 for the first page. */
  readonly afterId: bigint;
  readonly limit: number;
  readonly status: PetStatus | undefined;
}

export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;
const PARAMETERS = ['limit', 'status', 'cursor'];

/** The query of listPets (contract 4.1), or a refusal that names the parameter to mend. `search` is what stands behind `?`. */
export function parseListQuery(search: string): ListQuery | Refusal {
  const sent = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    if (!PARAMETERS.includes(name)) return unknownParameter(name);
    if (sent.has(name)) return new Refusal('invalid_parameter', `${name} stands in the query twice. Send it once.`);
    sent.set(name, value);
  }
  const limit = parseLimit(sent.get('limit'));
  if (limit === undefined) return new Refusal('invalid_parameter', `limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  const wanted = sent.get('status');
  const status = wanted === undefined ? undefined : parseStatus(wanted);
  if (wanted !== undefined && status === undefined) {
    return new Refusal('invalid_parameter', `status must be one of ${PET_STATUSES.join(', ')}, not ${shown(wanted)}.`);
  }
  const cursor = sent.get('cursor');
  const afterId = cursor === undefined ? 0n : readCursor(cursor, status);
  if (afterId === undefined) {
    return new Refusal('invalid_parameter', 'cursor is not one of this list. Follow the next link as it was given, or leave cursor out to start anew.');
  }
  return { afterId, limit, status };
}

/** Refuses whatever stands behind `?` of an operation without parameters. */
export function refuseQuery(search: string): Refusal | undefined {
  const [first] = new URLSearchParams(search).keys();
  return first === undefined ? undefined : unknownParameter(first);
}

/** The Link header (RFC 8288) to the page after `last`. */
export function nextLink(query: ListQuery, last: Pet): string {
  const filter = query.status === undefined ? '' : `&status=${query.status}`;
  return `</v1/pets?limit=${query.limit}${filter}&cursor=${writeCursor(last.id, query.status)}>; rel="next"`;
}

function unknownParameter(name: string): Refusal {
  return new Refusal('invalid_parameter', `The query parameter ${shown(name)} is not known here. Leave it out.`);
}

function parseLimit(text: string | undefined): number | undefined {
  if (text === undefined) return DEFAULT_LIMIT;
  return /^[1-9][0-9]{0,2}$/.test(text) && Number(text) <= MAX_LIMIT ? Number(text) : undefined;
}

/** Version, last id and filter: what a later version may need to tell its cursors from ours. */
function writeCursor(afterId: bigint, status: PetStatus | undefined): string {
  return Buffer.from(`1 ${afterId.toString()} ${status ?? '*'}`).toString('base64url');
}

/** The id the cursor continues after; undefined when it is broken or was made for another filter. */
function readCursor(cursor: string, status: PetStatus | undefined): bigint | undefined {
  const afterId = parseInt64(Buffer.from(cursor, 'base64url').toString('latin1').split(' ')[1] ?? '');
  // Only what we would write ourselves is ours.
  if (afterId === undefined || afterId < 1n || writeCursor(afterId, status) !== cursor) return undefined;
  return afterId;
}
