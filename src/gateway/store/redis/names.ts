/**
 * Names of everything in Redis. All that belongs to one subject shares the hash tag `{…}`, so that a
 * Cluster keeps it on one node and one script can touch all of it:
 *
 *     petgate:{<id>}:key          a key: its record, state and ban (hash) no TTL
 *     petgate:{<id>}:history      audit entries of a key or a customer (list) no TTL
 *     petgate:{<id>}:usage:<day>  ledger of one UTC day (hash)       TTL
 *     petgate:{<id>}:events       events of a key or a customer that are not delivered (hash) no TTL
 *     petgate:{<id>}:credits:<day>  last failure report counted of each reporter (hash) TTL
 *     petgate:{<id>}:spool:<day>  what was taken of which spool (hash) TTL
 *     petgate:{<id>}:customer     a customer: its record and buckets (hash) no TTL
 *     petgate:{ip:<n>}:states     buckets, strikes and ban of addresses, each with when it is over (hash) TTL
 *     petgate:{<id>}:wait         what makes WAIT wait (link/replicas.ts) TTL
 *     petgate:store               which store it is, and what it has counted (hash, link/identity.ts) no TTL
 *     petgate:{<n>}:store         the same, 64 times: on each master of a Cluster, beside one that was evicted no TTL
 *     petgate:keys                ids of all keys (sorted set)       no TTL
 *     petgate:customers           ids of all customers (sorted set)  no TTL
 *     petgate:keys:corrected      ids of those whose history has corrections (sorted set) no TTL
 *     petgate:customers:corrected the same of customers (sorted set) no TTL
 *     petgate:tokens              admin tokens by id (hash)          no TTL
 *     petgate:session-secret      what the cookies of pages are sealed with (string) no TTL
 *     petgate:changes             ids of keys and customers changed lately (sorted set) TTL
 *     petgate:{events}:waiting    ids of events, by when they were made (sorted set) no TTL
 *     petgate:{events}:due        ids of those not in the queue yet, by when they are due (sorted set) no TTL
 *     petgate:{events}:operators  the queue: ids, by when they are due (sorted set) no TTL
 *     petgate:{events}:dead       ids of dead letters, by since when (sorted set) no TTL
 *     petgate:{events}:collecting somebody looks for what nobody entered (outbox/pending.ts) TTL
 *     petgate:gateways            gateways there are (sorted set)    TTL
 *     petgate:archive             id of the archive that days were moved to  no TTL
 *     petgate:archive:moved       what it has of the days that were moved (hash) no TTL
 *     petgate:archive:days        days that 0.3 moved, or was about to (sorted set) no TTL
 *     petgate:gateways:days       of which days each may bring counts (hash) TTL
 *
 * The id of a customer's key is written `{<8 characters of the customer>}<6 more>`, so that all its keys and the
 * customer itself share a tag.
 *
 * Beside the record (records/keys.ts) the hash of a key has the fields `state` and `windows` (store/state.ts),
 * `summary` (scripts/admission.lua), `days` (ledger/active-days.ts), `archived-…` (ledger/archived-days.ts), `ban`
 * (what an operator said of a ban), and with events on `told`, `telling` and `tell-…` (outbox/pending.ts), as the hash
 * of a customer has.
 *
 * Every script gets all names it touches, and as few as can be: while a Cluster moves a slot, Redis
 * runs a script only where all of its names are, and one that isn't there yet may be on its way.
 *
 * `<day>` is the number of the day since 1970-01-01, which a script can work out from the clock.
 */
import { DAY_MS } from '../../admission/bucket.js';
import { CUSTOMER_ID_LENGTH, CUSTOMER_KEY_ID_LENGTH } from '../records/customer-id.js';
import type { Subject } from '../../admission/port.js';
import { slotOf } from './slot.js';

export const STORE = 'petgate:store';
export const KEY_INDEX = 'petgate:keys';
export const CUSTOMER_INDEX = 'petgate:customers';
export const CORRECTED_KEYS = 'petgate:keys:corrected';
export const CORRECTED_CUSTOMERS = 'petgate:customers:corrected';
export const TOKENS = 'petgate:tokens';
export const SESSION_SECRET = 'petgate:session-secret';

/** There while cookies of a session that was ended could still open it. */
export const endedSessionName = (sessionId: string): string => `petgate:ended-session:${sessionId}`;
export const CHANGES = 'petgate:changes';
export const EVENTS_WAITING = 'petgate:{events}:waiting';
export const EVENTS_DUE = 'petgate:{events}:due';
export const EVENTS_OPERATORS = 'petgate:{events}:operators';
export const EVENTS_DEAD = 'petgate:{events}:dead';
/** 0.3 kept here what was for customers' own webhooks: copies, and customers with a queue. */
export const EVENTS_COPIES = 'petgate:{events}:copies';
export const EVENTS_CUSTOMERS = 'petgate:{events}:customers';
export const customerQueueName = (customer: string): string => `petgate:{events}:to:${customer}`;
export const EVENTS_COLLECTING = 'petgate:{events}:collecting';
export const GATEWAYS = 'petgate:gateways';
export const GATEWAY_DAYS = 'petgate:gateways:days';
export const ARCHIVE = 'petgate:archive';
export const MOVED_DAYS = 'petgate:archive:moved';
export const NOTED_DAYS = 'petgate:archive:days';

/** Name of one of the marks of a Cluster (link/identity.ts). */
export function storeMark(n: number): string {
  return `petgate:{${n}}:store`;
}

/** An id with the hash tag in it. */
function tagged(id: string): string {
  if (id.length !== CUSTOMER_KEY_ID_LENGTH) return `{${id}}`;
  return `{${id.slice(0, CUSTOMER_ID_LENGTH)}}${id.slice(CUSTOMER_ID_LENGTH)}`;
}

/** Name of a customer itself. */
export function customerName(id: string): string {
  return `petgate:{${id}}:customer`;
}

/** Name of a key itself. */
export function keyName(id: string): string {
  return `petgate:${tagged(id)}:key`;
}

/** Written on the node of `key` before a WAIT, and gone at once. */
export function waitName(key: string): string {
  return `petgate:{${/\{([^{}]+)\}/.exec(key)?.[1] ?? key}}:wait`;
}

export function historyName(id: string): string {
  return `petgate:${tagged(id)}:history`;
}

/** Name of the events of a key or a customer that are not delivered. */
export function eventsName(id: string): string {
  return `petgate:${tagged(id)}:events`;
}

/** Name of the day ledger of a key. */
export function ledgerName(id: string, day: number): string {
  return `petgate:${tagged(id)}:usage:${day}`;
}

/** Name of the hash that holds, by reporter, the number of the last failure report counted of a day. */
export function failureReportsName(id: string, day: number): string {
  return `petgate:${tagged(id)}:credits:${day}`;
}

export function spoolName(id: string, day: number): string {
  return `petgate:${tagged(id)}:spool:${day}`;
}

/** Of addresses; each remembers at most a certain number (admit/plans.ts), so that no attack fills Redis. */
const GROUPS = 4_096;

/** Where a subject's state stands. */
export function subjectName(subject: Subject): string {
  return subject.kind === 'key' ? keyName(subject.id) : `petgate:{ip:${slotOf(subject.address) % GROUPS}}:states`;
}

/** Number of the UTC day of a store time, ms. */
export function dayNumber(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/** Number of a day written `2026-11-21`. */
export function dayNumberOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS;
}

/** All from the first to the last of them; none where that is the earlier one. */
export function dayNumbers(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
}

/** `2026-11-21` */
export function dayName(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Days in one field `archived-…` of a key (ledger/archived-days.ts). */
export const ARCHIVED_CHUNK = 400;

/** Name of the count of units beyond one for each request: a ledger without it is of requests that cost one. */
export const EXCESS = 'excess';

/** Field of a day's ledger: what is in it comes on top of what the archive has, or an import is to bring. */
export const ON_TOP = 'on top';

/** Name of one count in a day's ledger. */
export function usageField(plan: string, operation: string, count: string): string {
  return `${plan}|${operation}|${count}`;
}
