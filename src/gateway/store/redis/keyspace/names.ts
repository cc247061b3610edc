/**
 * Names in Redis. Everything of one subject shares the hash tag `{…}`, so that a Cluster keeps it on one node and one
 * script can access all of it:
 *
 *     petgate:{<id>}:key            a key: its record, state and ban (hash) no TTL
 *     petgate:{<id>}:history        audit entries of a key or customer (list) no TTL
 *     petgate:{<id>}:usage:<day>    ledger of one UTC day (hash) TTL
 *     petgate:{<id>}:events         undelivered events of a key or customer (hash) no TTL
 *     petgate:{<id>}:credits:<day>  last counted failure report of each reporter (hash) TTL
 *     petgate:{<id>}:spool:<day>    what was taken from each spool (hash) TTL
 *     petgate:{<id>}:customer       a customer: its record and buckets (hash) no TTL
 *     petgate:{ip:<n>}:states       buckets, strikes and ban of addresses, each with its expiry (hash) TTL
 *     petgate:{<id>}:wait           written before a WAIT (link/replicas.ts) TTL
 *     petgate:store                 the store's ID, how many changes it has counted (link/identity.ts), and how often
 *                                   counts were raised (ledger/transfer.ts) (hash) no TTL
 *     petgate:{<n>}:store           the same, 64 times: on each master of a Cluster, and in case one is evicted no TTL
 *     petgate:keys                  IDs of all keys (sorted set) no TTL
 *     petgate:customers             IDs of all customers (sorted set) no TTL
 *     petgate:keys:corrected        IDs of keys whose history has corrections (sorted set) no TTL
 *     petgate:customers:corrected   the same for customers (sorted set) no TTL
 *     petgate:tokens                admin tokens by ID (hash) no TTL
 *     petgate:session-secret        secret that seals the cookies of pages (string) no TTL
 *     petgate:ended-session:<id>    a session that was ended by hand (string) TTL
 *     petgate:bans:key              IDs of banned keys, by the end of the ban (sorted set) no TTL
 *     petgate:bans:address          the same for addresses (sorted set) no TTL
 *     petgate:changes               IDs of recently changed keys and customers (sorted set) TTL
 *     petgate:{events}:waiting      IDs of events, by when they happen (sorted set) no TTL
 *     petgate:{events}:due          IDs of events not in the queue yet, by when they are due (sorted set) no TTL
 *     petgate:{events}:operators    the queue: IDs of events, by when they are due (sorted set) no TTL
 *     petgate:{events}:dead         IDs of dead letters, by when they became dead (sorted set) no TTL
 *     petgate:{events}:collecting   lock for collecting left-behind events (outbox/pending.ts) TTL
 *     petgate:gateways              gateways that are alive (sorted set) TTL
 *     petgate:notes:<name>          what gateways note for each other, such as figures of a minute (hash) TTL
 *     petgate:archive               ID of the archive that days were moved to (string) no TTL
 *     petgate:archive:moved         what it has of the days that were moved (hash) no TTL
 *     petgate:archive:days          days that version 0.3 moved, or was about to (sorted set) no TTL
 *     petgate:gateways:days         the days each gateway may still deliver counts for, and what it runs (hash) TTL
 *
 * The ID of a customer's key is written `{<8 characters of the customer>}<6 more>`, so that all its keys and the
 * customer itself share a tag.
 *
 * Besides the record (records/keys.ts), the hash of a key has the fields `state` and `windows` (store/state.ts),
 * `summary` (scripts/admission.lua), `days` (ledger/active-days.ts), `archived-…` (ledger/archived-days.ts), `ban` (an
 * operator's note on a ban), and `told`, `telling` and `tell-…` (outbox/pending.ts). The hash of a
 * customer has the last three, too. Who pays has `leases` (admission/leases.ts).
 *
 * Every script is given all names that it accesses, and as few as possible: while a Cluster moves a slot, Redis runs a
 * script only on a node that has all of its names, and a name that does not exist yet may be on the other node.
 *
 * `<day>` is the number of the day since 1970-01-01, which a script can compute from the clock.
 */
import { DAY_MS } from '../../../admission/bucket.js';
import { CUSTOMER_ID_LENGTH, CUSTOMER_KEY_ID_LENGTH, isCustomer, payerOf } from '../../records/customer-id.js';
import type { Subject } from '../../../admission/port.js';
import { slotOf } from './slot.js';

export const STORE = 'petgate:store';
/** Field of `STORE`: how often counts were about to be raised, or had been, or an archive was accepted. */
export const RAISED = 'raised';
export const KEY_INDEX = 'petgate:keys';
export const CUSTOMER_INDEX = 'petgate:customers';
export const CORRECTED_KEYS = 'petgate:keys:corrected';
export const CORRECTED_CUSTOMERS = 'petgate:customers:corrected';
export const TOKENS = 'petgate:tokens';
export const SESSION_SECRET = 'petgate:session-secret';
export const endedSessionName = (sessionId: string): string => `petgate:ended-session:${sessionId}`;
export const CHANGES = 'petgate:changes';
export const EVENTS_WAITING = 'petgate:{events}:waiting';
export const EVENTS_DUE = 'petgate:{events}:due';
export const EVENTS_OPERATORS = 'petgate:{events}:operators';
export const EVENTS_DEAD = 'petgate:{events}:dead';
/** Version 0.3 kept here what was for the webhooks of customers: copies of events, and customers with a queue. */
export const EVENTS_COPIES = 'petgate:{events}:copies';
export const EVENTS_CUSTOMERS = 'petgate:{events}:customers';
export const customerQueueName = (customer: string): string => `petgate:{events}:to:${customer}`;
export const EVENTS_COLLECTING = 'petgate:{events}:collecting';
export const GATEWAYS = 'petgate:gateways';
export const GATEWAY_DAYS = 'petgate:gateways:days';
export const notesName = (name: string): string => `petgate:notes:${name}`;
export const ARCHIVE = 'petgate:archive';
export const MOVED_DAYS = 'petgate:archive:moved';
export const NOTED_DAYS = 'petgate:archive:days';

export const storeMark = (n: number): string => `petgate:{${n}}:store`;

function tagged(id: string): string {
  if (id.length !== CUSTOMER_KEY_ID_LENGTH) return `{${id}}`;
  return `{${id.slice(0, CUSTOMER_ID_LENGTH)}}${id.slice(CUSTOMER_ID_LENGTH)}`;
}

export const customerName = (id: string): string => `petgate:{${id}}:customer`;
export const keyName = (id: string): string => `petgate:${tagged(id)}:key`;
/** Name of the hash of a key or customer. */
export const accountName = (id: string): string => (isCustomer(id) ? customerName(id) : keyName(id));
/** Name of the hash with the buckets of a key: its customer's, or its own. */
export const payerName = (keyId: string): string => accountName(payerOf(keyId));
export const historyName = (id: string): string => `petgate:${tagged(id)}:history`;
export const eventsName = (id: string): string => `petgate:${tagged(id)}:events`;
export const ledgerName = (id: string, day: number): string => `petgate:${tagged(id)}:usage:${day}`;
export const settlementsName = (id: string, day: number): string => `petgate:${tagged(id)}:credits:${day}`;
export const spoolName = (id: string, day: number): string => `petgate:${tagged(id)}:spool:${day}`;
/** Written on the node of `key` before a WAIT; expires immediately. */
export const waitName = (key: string): string => `petgate:{${/\{([^{}]+)\}/.exec(key)?.[1] ?? key}}:wait`;

/**
 * Number of groups of addresses. Each group remembers a limited number of addresses (admit/plans.ts), so that no attack
 * fills Redis.
 */
const GROUPS = 4_096;

/** Returns the name of the hash with a subject's state; addresses of a group share one. */
export function subjectName(subject: Subject): string {
  return subject.kind === 'key' ? keyName(subject.id) : `petgate:{ip:${slotOf(subject.address) % GROUPS}}:states`;
}

/** Returns the number of a day written `2026-11-21`. */
export function dayNumberOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS;
}

/** Returns the numbers from `first` to `last`; none if `last` is smaller. */
export function dayNumbers(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
}

/** Days in one field `archived-…` of a key (ledger/archived-days.ts). */
export const ARCHIVED_CHUNK = 400;

/** Name of the count of units beyond one per request. A ledger without it has only requests that cost one unit. */
export const EXCESS = 'excess';

/** Field of a day's ledger: its counts come on top of those that the archive has, or that an import will bring. */
export const ON_TOP = 'on top';

/** Name of one count in a day's ledger. */
export const usageField = (plan: string, operation: string, count: string): string => `${plan}|${operation}|${count}`;
