/**
 * Names of rows. The first letter is the kind. No part contains the separator, because IDs and operations are plain
 * words; it sorts below them all, so that rows of one kind are in the order of their parts.
 *
 * | | |
 * |---|---|
 * | `F` `j` | the format; the last journal record whose events, bans and single rows are in the file |
 * | `s` `a` `u` | state of a key or a customer; of an address; one row of the ledger |
 * | `n` `T` | a banned key or address; the recent crossings of a subject that were emitted |
 * | `k` `K` `h` `b` | key; customer; history of either; an operator's note on a ban |
 * | `W` `C` `D` `R` `S` | 0.3: webhooks of customers, their copies of events, and the queues of these |
 * | `w` | a key or customer whose history may have corrections |
 * | `t` `P` | admin token; the secret that seals session cookies |
 * | `G` | a session that was signed out |
 * | `e` | an event that was not delivered yet, or is a dead letter |
 * | `y` | an undelivered event, by its time |
 * | `d` `O` | the same, by when it is due: before its first claim, and since |
 * | `z` `E` | a dead letter, by when it became one; events that are not in the outbox yet |
 * | `c` `q` `f` | outage mode: a cached key, counts of a ledger row that Redis has taken, one value of its metadata |
 * | `B` | outage mode: an automatic ban that is not yet in the key's history in Redis |
 *
 * Versions up to 0.4 had a second file, and `g` `l` `o` `p` `v` (upgrade.ts).
 */
export const SEPARATOR = '\u001f';
/** Sorts above any part. */
export const AFTER_ALL = '\uffff';

/** The end of the ban of a key or address, unix ms, as a double. */
export const bannedRow = ({ kind, id }: { readonly kind: 's' | 'a'; readonly id: string }): string =>
  `n${kind === 's' ? 'r' : 'a'}${id}`;
export const bannedRange = (kind: 's' | 'a'): { start: string; end: string } => rangeOf(bannedRow({ kind, id: '' }));
export const pendingRow = (number: number, index: number): string =>
  `E${String(number).padStart(16, '0')}${SEPARATOR}${index}`;
export const awaitedBanRow = (keyId: string, until: string): string => `B${keyId}${SEPARATOR}${until}`;
export const marksRow = (subjectId: string): string => `T${subjectId}`;
export const TAKEN_MARK = 'j';

export const recordRow = (keyId: string): string => `k${keyId}`;
export const webhookRow = (customerId: string): string => `W${customerId}`;
export const customerRow = (customerId: string): string => `K${customerId}`;
export const historyRow = (keyId: string, version: number): string =>
  `h${keyId}${SEPARATOR}${String(version).padStart(12, '0')}`;
/** An automatic ban, which has no version of its own: after the version that it applied to. */
export const automaticBanRow = (keyId: string, version: number, atMs: number, until: string): string =>
  listedRow(historyRow(keyId, version) + SEPARATOR, atMs, until);
/** Exists for each key (`k`) or customer (`K`) whose history may have corrections. */
export const correctedRow = (type: 'k' | 'K', id: string): string => `w${type}${id}`;
export const historyRange = (id: string): { start: string; end: string } => ({
  start: historyRow(id, 0),
  end: `h${id}${SEPARATOR}${AFTER_ALL}`,
});
/** A key's row in the ledger for `label`: day, plan and operation. */
export const usageRow = (keyId: string, label: string): string =>
  `u${label.slice(0, 10)}${SEPARATOR}${keyId}${label.slice(10)}`;

export const FORMAT_ROW = 'F';
export const banNoteRow = (keyId: string): string => `b${keyId}`;
export const tokenRow = (tokenId: string): string => `t${tokenId}`;
export const eventRow = (eventId: string): string => `e${eventId}`;
/** An event in a list that is ordered by a time, ms. */
export const listedRow = (list: string, atMs: number, id: string): string =>
  `${list}${String(Math.max(0, Math.round(atMs))).padStart(16, '0')}${SEPARATOR}${id}`;
/** Returns the ID of the event in such a row. */
export const listedIn = (row: string): string => row.slice(row.lastIndexOf(SEPARATOR) + 1);

export const SESSION_SECRET = 'P';
/** A session that was signed out: until when it is remembered, unix ms, as a double. */
export const endedSessionRow = (sessionId: string): string => `G${sessionId}`;

/** Returns the range of all rows of one kind. */
export function rangeOf(kind: string): { start: string; end: string } {
  return { start: kind, end: kind + AFTER_ALL };
}
