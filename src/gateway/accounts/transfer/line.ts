import { z } from 'zod';
import type { Snapshot } from '../../store/records/record.js';
import { firstSnapshot } from '../../store/records/snapshot.js';
import { differences, KEY_FIELDS, valuesOf } from '../edits.js';
import {
  keyFields,
  limitsOn,
  name,
  parseMoment,
  planIn,
  readFields,
  unknownFields,
  type Body,
  type FieldRules,
} from '../fields.js';
import type { KeyRecord, KeyStatus, SecretHash } from '../../store/records/key.js';
import { customerOf } from '../../store/records/customer-id.js';
import { importedIdOf, isKeyId } from '../token.js';
import { isMapping } from '../../../shared/mapping.js';
import { MAX_SECRETS } from '../rotation.js';

/** The rules for a line. */
export interface ImportRules extends FieldRules {
  /** Built once for all lines. */
  readonly fields: ReturnType<typeof lineFields>;
}

/** The fields of a line; those with `OTHER` are read below. */
export const lineFields = (rules: FieldRules) => ({
  ...keyFields(rules),
  plan: planIn(rules),
  name,
  ...{ id: OTHER, hash: OTHER, hashes: OTHER, status: OTHER, created: OTHER, expires: OTHER },
});
const OTHER = z.unknown().transform(() => undefined);
const STATUSES: readonly KeyStatus[] = ['enabled', 'disabled', 'revoked'];
const HASH_FORM = 'the SHA-256 of the whole key, 64 hex digits or 43 characters of base64url';

/**
 * Parses one key of an import file:
 * `{hash | hashes, plan, name, id?, note?, status?, limits?, scopes?, created?, expires?}`.
 * A hash is the SHA-256 of the key as the client sends it, in hex or base64url; `hashes` takes up to three, each a hash
 * or `{hash, ends}`. A revoked key has none. `id` is for keys that Petgate created, whose token contains it; a key of
 * another form gets its ID from its hash. Dates may be in the past.
 */
export function readIncoming(
  body: Body,
  rules: ImportRules,
  actor: string,
): Snapshot<KeyRecord> | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const fields = readFields(body, rules.fields, problems);
  const { plan: planName = '', name = '', note = '', scopes = null } = fields;
  const plan = rules.plans.get(planName);
  const limits = plan === undefined ? null : limitsOn(plan, fields.limits, null, rules.costs, problems);
  const status = readStatus(body['status'], problems);
  const secrets = readSecrets(body, status, problems);
  const id = readId(body['id'], secrets, status, rules, problems);
  const createdAtMs = dateIn(body, 'created', problems) ?? rules.nowMs;
  const expiresAtMs = dateIn(body, 'expires', problems);
  if (problems.length > 0) return { problems };
  const values = { plan: planName, name, note, status, limits, scopes, expiresAtMs };
  const record: KeyRecord = { id, ...values, createdAtMs, secrets, version: 1 };
  return firstSnapshot(record, { atMs: rules.nowMs, actor, action: 'imported', changed: valuesOf(values) });
}

/** Whether `stored` matches the imported `record`, whenever it was created. */
export function sameKey(record: KeyRecord, stored: KeyRecord): boolean {
  return Object.keys(differences(record, stored, [...KEY_FIELDS, 'secrets'])).length === 0;
}

function readStatus(value: unknown, problems: string[]): KeyStatus {
  const status = value === undefined ? 'enabled' : STATUSES.find((one) => one === value);
  if (status === undefined) problems.push(`status: must be one of ${STATUSES.join(', ')}`);
  return status ?? 'enabled';
}

function readSecrets(body: Body, status: KeyStatus, problems: string[]): readonly SecretHash[] {
  const hasOne = Object.hasOwn(body, 'hash');
  if (hasOne && Object.hasOwn(body, 'hashes')) problems.push('hash: give either hash or hashes');
  const given: unknown = hasOne ? [body['hash']] : (body['hashes'] ?? []);
  if (!Array.isArray(given) || given.length > MAX_SECRETS) {
    problems.push(`hashes: must be a list of 1 to ${MAX_SECRETS}`);
    return [];
  }
  if (status === 'revoked' && given.length > 0) problems.push('hashes: a revoked key has none');
  if (status !== 'revoked' && given.length === 0) problems.push(`hash: is required: ${HASH_FORM}`);
  const secrets = given.map((one: unknown) => readSecret(one, hasOne ? 'hash' : 'hashes', problems));
  const valid = secrets.map(({ hash }) => hash).filter((hash) => hash !== '');
  if (new Set(valid).size < valid.length) problems.push('hashes: two are the same');
  return secrets;
}

function readSecret(value: unknown, field: string, problems: string[]): SecretHash {
  const pair: Body = isMapping(value) ? value : { hash: value };
  for (const problem of unknownFields(pair, ['hash', 'ends'])) problems.push(`${field}: ${problem}`);
  const hash = readHash(pair['hash']);
  if (hash === undefined) problems.push(`${field}: must be ${HASH_FORM}`);
  return { hash: hash ?? '', endsAtMs: dateIn(pair, 'ends', problems) };
}

/** Returns a hash in base64url; undefined if it is not one. */
function readHash(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^[0-9a-fA-F]{64}$/.test(value)) return Buffer.from(value, 'hex').toString('base64url');
  // Some texts of 43 characters do not encode 32 bytes exactly, and would never match a hash.
  return value.length === 43 && Buffer.from(value, 'base64url').toString('base64url') === value ? value : undefined;
}

function readId(
  value: unknown,
  secrets: readonly SecretHash[],
  status: KeyStatus,
  { acceptImported }: ImportRules,
  problems: string[],
): string {
  const foreignIds = secrets.filter(({ hash }) => hash !== '').map(({ hash }) => importedIdOf(hash));
  const id = value ?? (secrets.length === 1 ? foreignIds[0] : undefined);
  if (id === undefined && (secrets.length > 1 || status === 'revoked'))
    problems.push('id: is required for a key with several hashes, or none');
  if (value !== undefined && (typeof value !== 'string' || !isKeyId(value)))
    problems.push("id: must be a Petgate key's 12 letters and digits; leave it out for a key of another form");
  else if (value !== undefined && customerOf(value) !== null)
    problems.push("id: keys of a customer can't be imported; create new ones with petgate keys create --customer");
  if (typeof id !== 'string') return '';
  if (!acceptImported && foreignIds.includes(id)) {
    problems.push(
      'hash: keys of another form are refused here; set keys.accept_imported to true first, or give the id if ' +
        'Petgate created the key',
    );
  }
  return id;
}

/** Returns unix ms; null if the field is absent or null. */
function dateIn(body: Body, field: string, problems: string[]): number | null {
  const value = body[field] ?? null;
  if (value === null) return null;
  const atMs = parseMoment(value);
  if (atMs !== undefined) return atMs;
  problems.push(`${field}: must be a date such as "2027-01-31" or "2027-01-31T12:00:00Z", or unix milliseconds`);
  return null;
}
