import { z } from 'zod';
import { MAX_LIMIT } from '../../admission/bucket.js';
import type { SubjectState } from '../../admission/decide.js';
import { COUNTS, forEachCount, noCounts, type StoredRow } from '../../store/records/counts.js';
import { ROLES } from '../../store/records/admin-token.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry, Snapshot, StoredRecord } from '../../store/records/record.js';
import { isDay } from '../../../shared/utc-day.js';
import { MAX_SECRETS } from '../rotation.js';
import { isCustomerId, isKeyId } from '../token.js';

/**
 * The format of an export, named in its first line. An export with corrections has its own format: version 0.3 would
 * import them where no report finds them.
 */
export const EXPORT_FORMAT = 1;
export const EXPORT_FORMAT_WITH_CORRECTIONS = 2;

const EXPORT_FORMATS = [EXPORT_FORMAT, EXPORT_FORMAT_WITH_CORRECTIONS];

const TEXT = z.string();
const FIGURE = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const COUNT = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const MOMENT = FIGURE;
/** A name must not contain the separators of names in a store. */
const word = (...separators: readonly string[]) =>
  TEXT.refine(
    (text) => text !== '' && Buffer.byteLength(text) < 256 && !separators.some((one) => text.includes(one)),
    'must be a name',
  );
const OPERATION = word('\u001f', '\n');
const PLAN = word('|', '\u001f', '\n');
const HASH = TEXT.regex(/^[\w-]{43}$/, 'must be a SHA-256 in base64url');
const DAY = TEXT.refine(isDay, 'must be a calendar day such as 2026-11-21');
const KEY_ID = TEXT.refine(isKeyId, "must be a key's id");
const CUSTOMER_ID = TEXT.refine(isCustomerId, "must be a customer's id");
const LIMIT = z.union([z.literal('unlimited'), z.int().min(0).max(MAX_LIMIT)]);
/** A bit for each of 400 days. */
const ARCHIVED_TEXT = 68;
const PER = z.enum(['minute', 'day', 'month']);

const HISTORY = z.array(
  z.strictObject({
    atMs: MOMENT,
    actor: TEXT.optional(),
    action: TEXT as unknown as z.ZodType<AuditEntry['action']>,
    changed: z.record(TEXT, z.unknown()),
  }),
);
const GRANT = { id: COUNT, window: PER, units: COUNT, untilMs: MOMENT, note: TEXT, actor: TEXT, atMs: MOMENT };
/** What keys and customers have in common. */
const RECORD = {
  version: z.int().min(1),
  plan: TEXT,
  name: TEXT,
  note: TEXT,
  createdAtMs: MOMENT,
  limits: z
    .strictObject({ minute: LIMIT, day: LIMIT, month: LIMIT.optional(), concurrency: COUNT.optional() })
    .nullable(),
  grants: z.array(z.strictObject(GRANT)).optional(),
  credited: COUNT.optional(),
};
const BUCKET = z.strictObject({ level: FIGURE, atMs: MOMENT });
const STATE = z.strictObject({
  ...{ day: BUCKET, month: BUCKET, windows: z.record(OPERATION, BUCKET) },
  ...{ strikes: COUNT, strikesSinceMs: MOMENT, bannedUntilMs: MOMENT, banLevel: COUNT },
});
// Earlier versions had no returned units.
const COUNTED = { ...forEachCount(COUNT), returned: COUNT.default(0) };
const ROW = z.strictObject({
  ...{ key: KEY_ID, day: DAY, plan: PLAN, operation: OPERATION },
  ...COUNTED,
  isOnTop: z.literal(true).optional(),
});

/** One schema per kind of line. Together they have all that a store keeps for longer than a minute. */
const LINES = {
  store: z.strictObject({
    format: z.literal(EXPORT_FORMATS, `must be ${EXPORT_FORMATS.join(' or ')}: another version of Petgate wrote this`),
    exported: TEXT,
    // `has` is absent in exports of version 0.3.
    archive: z
      .strictObject({ id: TEXT.min(1), days: z.array(DAY), has: z.record(DAY, z.strictObject(COUNTED)).optional() })
      .nullable(),
  }),
  customer: z.strictObject({
    record: z.strictObject({
      ...{ ...RECORD, id: CUSTOMER_ID, reference: TEXT },
      status: z.enum(['enabled', 'disabled', 'closed']),
    }),
    history: HISTORY,
    state: STATE,
    /** From version 0.3: the customer's own webhook, which is ignored. */
    webhook: z.unknown().optional(),
  }),
  key: z.strictObject({
    record: z.strictObject({
      ...{ ...RECORD, id: KEY_ID, expiresAtMs: MOMENT.nullable(), scopes: z.array(word(' ', '\n')).nullable() },
      status: z.enum(['enabled', 'disabled', 'revoked']),
      secrets: z.array(z.strictObject({ hash: HASH, endsAtMs: MOMENT.nullable() })).max(MAX_SECRETS),
    }),
    history: HISTORY,
    state: STATE,
    ban: z.strictObject({ untilMs: MOMENT, reason: TEXT.nullable(), actor: TEXT }).nullable(),
    usage: z.array(ROW),
    archived: z.record(TEXT.regex(/^\d{1,4}$/), z.base64().max(ARCHIVED_TEXT)).optional(),
  }),
  token: z.strictObject({
    token: z.strictObject({
      ...{ id: KEY_ID, name: TEXT, role: z.enum(ROLES), hash: HASH },
      ...{ createdAtMs: MOMENT, createdBy: TEXT, expiresAtMs: MOMENT.nullable() },
    }),
  }),
  usage: z.strictObject({ rows: z.array(ROW) }),
  end: z.strictObject({
    sums: z.strictObject({
      ...{ customers: COUNT, keys: COUNT, tokens: COUNT },
      ...COUNTED,
    }),
  }),
};
type Kind = keyof typeof LINES;
type Lines = { readonly [K in Kind]: { readonly kind: K } & z.output<(typeof LINES)[K]> };
export type StoredLine = Lines[Kind];
export type Sums = Lines['end']['sums'];
type StoredState = z.output<typeof STATE>;

/** Returns the line, or what is wrong with it. */
export function readStored(body: Readonly<Record<string, unknown>>): StoredLine | string {
  const { kind, ...fields } = body;
  if (typeof kind !== 'string' || !Object.hasOwn(LINES, kind))
    return `kind: must be one of ${Object.keys(LINES).join(', ')}`;
  const read = LINES[kind as Kind].safeParse(fields);
  if (read.success) return body as unknown as StoredLine;
  const [{ path, message } = { path: [], message: '' }] = read.error.issues;
  return `${[kind, ...path].join('.')}: ${message}`;
}

/** Returns the line of a key or customer. A customer's has no ban and no usage. */
export function recordLine(kind: 'key' | 'customer', snapshot: Snapshot<StoredRecord>): object {
  const { record, history, state, banNote: ban, usage, archived } = snapshot;
  return { kind, record, history, state: storedState(state), ...(kind === 'key' && { ban, usage, archived }) };
}

export function keyIn({ record, history, state, ban, usage, archived }: Lines['key']): Snapshot<KeyRecord> {
  return { record, history, state: stateIn(state), banNote: ban, usage, archived } as Snapshot<KeyRecord>;
}

export function customerIn({ record, history, state }: Lines['customer']): Snapshot<CustomerRecord> {
  return { record, history, state: stateIn(state), banNote: null, usage: [] } as Snapshot<CustomerRecord>;
}

/** In another store, minutes start empty. */
function storedState(state: SubjectState): StoredState {
  const { day, month, strikes, strikesSinceMs, bannedUntilMs, banLevel, operationWindows } = state;
  const windows = [...(operationWindows ?? [])].filter(([name]) => !name.endsWith('-minute'));
  return { day, month, strikes, strikesSinceMs, bannedUntilMs, banLevel, windows: Object.fromEntries(windows) };
}

function stateIn({ windows, ...state }: StoredState): SubjectState {
  const operationWindows = new Map(Object.entries(windows));
  return {
    ...state,
    minute: { level: 0, atMs: 0 },
    operationWindows: operationWindows.size === 0 ? null : operationWindows,
  };
}

export function noSums(): Sums {
  return { customers: 0, keys: 0, tokens: 0, ...noCounts() };
}

/** Adds a line to the sums. */
export function addLine(sums: Record<keyof Sums, number>, kind: Kind, rows: readonly StoredRow[]): void {
  if (kind === 'customer' || kind === 'key' || kind === 'token') sums[`${kind}s`] += 1;
  for (const row of rows) for (const count of COUNTS) sums[count] += row[count];
}
