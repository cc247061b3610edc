/**
 * Names of rows, one letter for the kind. A part never holds the separator (ids and operations are plain words), which
 * sorts below all of them: rows of one kind stand in the order of their parts.
 *
 * | | |
 * |---|---|
 * | `F` `j` | the format; up to which record of the journal events were taken over |
 * | `s` `a` `u` | state of a key or a customer; of an address; one row of the ledger |
 * | `n` `T` | who is banned; which crossings a subject was notified of lately |
 * | `k` `K` `h` `b` | key; customer; history of both; what an operator said of a ban |
 * | `W` `C` `D` `R` `S` | 0.3: a customer's webhook; its copies of events, their queue, by when it is due |
 * | `w` | a key or a customer whose history may have corrections |
 * | `t` `P` | admin token; what the cookies of pages are sealed with |
 * | `G` | a session of pages that was ended by hand |
 * | `e` | an event that is not delivered |
 * | `y` | its entry by when it was made |
 * | `d` `O` | by when it is due, before its first attempt and since |
 * | `z` `E` | dead letters by since when; what was emitted and has no entry yet |
 * | `c` `q` `f` | outage mode: a cached key, counts of a ledger row that Redis has taken, one value of its metadata |
 * | `B` | outage mode: an automatic ban that the key's history in Redis lacks |
 *
 * Versions until 0.4 had a second file and `g` `l` `o` `p` `v` (upgrade.ts).
 */
export const SEPARATOR = '\u001f';
/** Sorts above any part. */
export const AFTER_ALL = '\uffff';

/** Of a key or an address: the end of its ban, ms, as a double. */
export const bannedRow = ({ kind, id }: { readonly kind: 's' | 'a'; readonly id: string }): string =>
  `n${kind === 's' ? 'r' : 'a'}${id}`;
/** Events under a number, until they come into the outbox. */
export const pendingRow = (number: number, index: number): string =>
  `E${String(number).padStart(16, '0')}${SEPARATOR}${index}`;
/** Of the outage mode. */
export const awaitedBanRow = (keyId: string, until: string): string => `B${keyId}${SEPARATOR}${until}`;
/** Which shares of its limits a key, or a customer, was notified of having crossed. */
export const marksRow = (subjectId: string): string => `T${subjectId}`;
/** The last journal record whose events, bans and single rows are in the file, as a double. */
export const TAKEN_MARK = 'j';

export const recordRow = (keyId: string): string => `k${keyId}`;
export const webhookRow = (customerId: string): string => `W${customerId}`;
export const customerRow = (customerId: string): string => `K${customerId}`;
export const historyRow = (keyId: string, version: number): string =>
  `h${keyId}${SEPARATOR}${String(version).padStart(12, '0')}`;
/** Of an automatic ban, which is of no version: behind that which it met. */
export const automaticBanRow = (keyId: string, version: number, atMs: number, until: string): string =>
  listedRow(historyRow(keyId, version) + SEPARATOR, atMs, until);
/** There for each key (`k`) or customer (`K`) whose history may have corrections. */
export const correctedRow = (type: 'k' | 'K', id: string): string => `w${type}${id}`;
/** All history of a key or a customer. */
export const historyRange = (id: string): { start: string; end: string } => ({
  start: historyRow(id, 0),
  end: `h${id}${SEPARATOR}${AFTER_ALL}`,
});
/** The ledger's row for what a key row counts under `label`: its day, plan and operation. */
export const usageRow = (keyId: string, label: string): string =>
  `u${label.slice(0, 10)}${SEPARATOR}${keyId}${label.slice(10)}`;

/** The format of the folder. */
export const FORMAT_ROW = 'F';
export const banNoteRow = (keyId: string): string => `b${keyId}`;
export const tokenRow = (tokenId: string): string => `t${tokenId}`;
export const eventRow = (eventId: string): string => `e${eventId}`;
/** Of an event, in a list by a time in ms. */
export const listedRow = (list: string, atMs: number, id: string): string =>
  `${list}${String(Math.max(0, Math.round(atMs))).padStart(16, '0')}${SEPARATOR}${id}`;
/** The event of a row of `listedRow`. */
export const listedIn = (row: string): string => row.slice(row.lastIndexOf(SEPARATOR) + 1);

/** What the cookies of pages are sealed with. */
export const SESSION_SECRET = 'P';
/** Of a session that was ended: until when it is remembered, unix ms, as a double. */
export const endedSessionRow = (sessionId: string): string => `G${sessionId}`;

/** The range of all rows of one kind. */
export function rangeOf(kind: string): { start: string; end: string } {
  return { start: kind, end: kind + AFTER_ALL };
}
