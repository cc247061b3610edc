import { dayNumber } from '../../../../shared/utc-day.js';
import { DAY_MS } from '../../../admission/bucket.js';
import { customerOf } from '../../records/customer-id.js';
import type { AdmissionRequest } from '../../../admission/port.js';
import { customerName, ledgerName } from '../keyspace/names.js';

/** Requests of one subject, which the script decides in order: its name, and their places in the batch. */
export interface Section {
  readonly name: string;
  readonly indices: readonly number[];
}
/** One script run. */
export type Call = readonly Section[];

/** Place of the first operation in ARGV: after guard, day and requests. */
const FIRST_OPERATION = 4;

const ADDRESS = 0;
const NO_NAME = 0;
const KEY_TODAY = 1;
const KEY_OTHER_DAYS = 2;
/** Added for a customer's key. */
const OF_CUSTOMER = 2;

/** ARGV of a run that changes nothing, on any day. KEYS may be empty, or one name. */
export const PROBE: readonly string[] = [
  '0',
  twoDigits(1) + String.fromCharCode(ADDRESS, NO_NAME, 0, FIRST_OPERATION, 0, 0),
  '',
  '',
];

/**
 * Returns KEYS and ARGV of a call, when the store's clock shows `today`.
 *
 * All requests are one argument, because Redis, Lua and ioredis spend about as much on an argument as on a whole
 * request in it. It is ASCII, with numbers in base 128, because ioredis writes strings faster than buffers. In
 * parentheses the number of digits, if not one:
 *
 *     subject   number of its requests (2), kind: 0 address, 1 key, 2 key on other days (tests only),
 *               3 and 4 the same for a key of a customer;
 *               after kind 0, length and text of the address; after 2 and 4, first day (3) and number of days (2)
 *     request   place of operation and scope in ARGV (2), mode, length and text of ` <secret hash>:`
 *     mode      1 if it costs something; plus 2 if length and text of a time in ms follow (tests only);
 *               plus 4 if it costs more than one unit and its cost (3) follows
 */
export function encode(
  requests: readonly AdmissionRequest[],
  call: Call,
  today: number,
): { readonly names: string[]; readonly args: string[] } {
  const names: string[] = [];
  const operations = new Operations();
  let text = '';
  for (const { name, indices } of call) {
    const { subject } = requests[indices[0]!]!;
    names.push(name);
    text += twoDigits(indices.length);
    text +=
      subject.kind === 'key'
        ? daysOf(names, subject.id, requests, indices, today)
        : String.fromCharCode(ADDRESS, subject.address.length) + subject.address;
    for (const index of indices) text += requestText(requests[index]!, operations);
  }
  return { names, args: [writtenDay(today), text, ...operations.args] };
}

/** Returns a day with its place in its month (from 0), so that the script need not compute when the month began. */
function writtenDay(day: number): string {
  if (day !== written.day) written = { day, text: (day * 32 + new Date(day * DAY_MS).getUTCDate() - 1).toString() };
  return written.text;
}
let written = { day: 0, text: '0' };

/**
 * Returns the kind of a key's subject, with its days unless they are today (only in tests). Adds to `names` its
 * customer and the ledgers of these days.
 */
function daysOf(
  names: string[],
  keyId: string,
  requests: readonly AdmissionRequest[],
  indices: readonly number[],
  today: number,
): string {
  let first = Infinity;
  let last = -Infinity;
  for (const index of indices) {
    const { nowMs } = requests[index]!;
    const day = nowMs === undefined ? today : dayNumber(nowMs);
    first = Math.min(first, day);
    last = Math.max(last, day);
  }
  const customerId = customerOf(keyId);
  if (customerId !== null) names.push(customerName(customerId));
  const more = customerId === null ? 0 : OF_CUSTOMER;
  for (let day = first; day <= last; day += 1) names.push(ledgerName(keyId, day));
  if (first === today && last === today) return String.fromCharCode(KEY_TODAY + more);
  const kind = String.fromCharCode(KEY_OTHER_DAYS + more, first >> 14);
  return kind + twoDigits(first & 16_383) + twoDigits(last - first + 1);
}

function requestText({ subject, operation, scope, cost, nowMs }: AdmissionRequest, operations: Operations): string {
  const secret = subject.kind === 'key' ? ` ${subject.secretHash}:` : '';
  const index = FIRST_OPERATION + operations.indexIn(operation, scope);
  if (nowMs === undefined && cost < 2)
    return String.fromCharCode(index >> 7, index & 127, cost, secret.length) + secret;
  const time = nowMs === undefined ? '' : nowMs.toString();
  const mode = (cost > 0 ? 1 : 0) + (time === '' ? 0 : 2) + (cost > 1 ? 4 : 0);
  return (
    String.fromCharCode(index >> 7, index & 127, mode, secret.length) +
    secret +
    (time === '' ? '' : String.fromCharCode(time.length) + time) +
    (cost > 1 ? String.fromCharCode(cost >> 14) + twoDigits(cost & 16_383) : '')
  );
}

function twoDigits(value: number): string {
  return String.fromCharCode(value >> 7, value & 127);
}

/** The operations of a call with their scopes, each once. */
class Operations {
  readonly args: string[] = [];
  readonly #indices = new Map<string, number>();

  indexIn(operation: string, scope: string | null): number {
    const name = scope === null ? operation : `${operation}\n${scope}`;
    let index = this.#indices.get(name);
    if (index === undefined) {
      index = this.args.length;
      this.#indices.set(name, index);
      this.args.push(operation, scope === null ? '' : ` ${scope} `);
    }
    return index;
  }
}
