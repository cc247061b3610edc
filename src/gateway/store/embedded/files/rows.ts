/**
 * Names of rows, one letter for the kind. A part never holds the separator (ids and operations are plain words), which
 * sorts below all of them: rows of one kind stand in the order of their parts.
 *
 * | in `recent` | |
 * |---|---|
 * | `l` `o` `g` | the log of what transactions changed of keys, its id, up to where it was forgotten |
 * | `a` `n` | an address; who is banned |
 * | `E` `T` | an event on its way into the outbox; which crossings a subject was notified of lately |
 * | `B` | automatic bans on their way into the history of their keys |
 *
 * | in `durable` | |
 * |---|---|
 * | `l` `p` | a copy of the log; which one it is of, and up to where |
 * | `s` `u` | state of a key or a customer; one row of the ledger |
 * | `k` `K` `h` `b` | key; customer; history of both; what an operator said of a ban |
 * | `W` `C` `D` `R` `S` | 0.3: a customer's webhook; its copies of events, their queue, by when it is due |
 * | `w` | a key or a customer whose history may have corrections |
 * | `v` `t` `P` | version of all records; admin token; what the cookies of pages are sealed with |
 * | `G` | a session of pages that was ended by hand |
 * | `e` | an event that is not delivered |
 * | `y` | its entry by when it was made |
 * | `d` `O` | by when it is due, before its first attempt and since |
 * | `z` `E` | dead letters by since when; what admissions emitted and has no entry yet |
 * | `c` `q` `f` | outage mode: a cached key, counts of a ledger row that Redis has taken, one value of its metadata |
 * | `B` | outage mode: an automatic ban that the key's history in Redis lacks |
 */
export const SEPARATOR = '\u001f';
/** Sorts above any part. */
export const AFTER_ALL = '\uffff';

/** Names a key where addresses are named beside it. */
export const keyRow = (keyId: string): string => `r${keyId}`;
/** Known to `recent` only: an address starts afresh after the machine restarts. */
export const addressRow = (address: string): string => `a${address}`;
/** `subject` is the row of a key or an address. Holds the end of the ban, ms, as a double. */
export const bannedRow = (subject: string): string => `n${subject}`;
/** Events that a transaction wrote, until the checkpoint takes them over; in `durable` under a number of their own. */
export const pendingRow = (transaction: number, index: number): string =>
  `E${String(transaction).padStart(16, '0')}${SEPARATOR}${index}`;
/** Automatic bans that a transaction began, until the checkpoint takes them over. */
export const bansRow = (transaction: number): string => `B${String(transaction).padStart(16, '0')}`;
/** In `durable`, of the outage mode. */
export const awaitedBanRow = (keyId: string, until: string): string => `B${keyId}${SEPARATOR}${until}`;
/** Which shares of its limits a key, or a customer, was notified of having crossed. */
export const marksRow = (subjectId: string): string => `T${subjectId}`;
/** The keys that one transaction changed, waiting for the checkpoint. */
export const logRow = (transaction: number): string => `l${String(transaction).padStart(16, '0')}`;
/**
 * A row of its copy: `copy` is the transaction on `durable` that wrote it, since several may copy up to the same one.
 */
export const copiedRow = (transaction: number, copy: number): string =>
  `${logRow(transaction)}${SEPARATOR}${String(copy).padStart(16, '0')}`;
/** The transaction of a row of `logRow`. */
export const transactionOf = (row: string): number => Number(row.slice(1));
/** The last transaction whose row in the log is gone, as a double: what it changed stands in `durable`. */
export const FORGOTTEN_MARK = 'g';
/** Tells one log from another, as a double. */
export const LOG_ID = 'o';
/** Of which log the copy is, and the last transaction it has, as doubles. */
export const COPIED_MARK = 'p';

export const stateRow = (keyId: string): string => `s${keyId}`;
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
/** Versions before kept here the id of the archive that days were moved to. */
export const ARCHIVE = 'x';
/** 0.2 kept here the import that was under way. */
export const IMPORT = 'm';

export const banNoteRow = (keyId: string): string => `b${keyId}`;
export const tokenRow = (tokenId: string): string => `t${tokenId}`;
export const eventRow = (eventId: string): string => `e${eventId}`;
/** Of an event, in a list by a time in ms. */
export const listedRow = (list: string, atMs: number, id: string): string =>
  `${list}${String(Math.max(0, Math.round(atMs))).padStart(16, '0')}${SEPARATOR}${id}`;
/** The event of a row of `listedRow`. */
export const listedIn = (row: string): string => row.slice(row.lastIndexOf(SEPARATOR) + 1);

/** Differs after each change of any record, of a key or a customer, as a double. */
export const RECORDS_VERSION = 'v';

/** What the cookies of pages are sealed with. */
export const SESSION_SECRET = 'P';
/** Of a session that was ended: until when it is remembered, unix ms, as a double. */
export const endedSessionRow = (sessionId: string): string => `G${sessionId}`;

/** The range of all rows of one kind. */
export function rangeOf(kind: string): { start: string; end: string } {
  return { start: kind, end: kind + AFTER_ALL };
}
