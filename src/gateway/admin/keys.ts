import { parseDurationMs } from '../config/schema/quantity.js';
import { unknownFields } from '../accounts/fields.js';
import { customerOf } from '../store/records/customer-id.js';
import type { KeyRecord } from '../store/records/key.js';
import type { AuditEntry } from '../store/records/record.js';
import { KeyRefused } from '../accounts/refused.js';
import type { Answer } from './answer.js';
import { grantsView } from './grants.js';
import { readPaging } from './input/query.js';
import type { Call, Route } from './route.js';
import { readFilter, TRANSFER_ROUTES } from './transfer.js';

const DEFAULT_OVERLAP = '24h';

export const KEY_ROUTES: readonly Route[] = [
  ...TRANSFER_ROUTES,
  {
    method: 'GET',
    path: '/admin/v1/keys',
    summary: 'Lists keys by id, page by page',
    role: 'read',
    query: ['limit', 'cursor', 'plan', 'status', 'name', 'customer'],
    gives: [200, 'KeyPage'],
    handle: list,
  },
  {
    method: 'POST',
    path: '/admin/v1/keys',
    summary: 'Creates a key; the answer shows the token, once',
    role: 'keys',
    takes: 'NewKey',
    gives: [201, 'IssuedKey'],
    handle: create,
  },
  { method: 'GET', path: '/admin/v1/keys/{id}', summary: 'One key', role: 'read', gives: [200, 'Key'], handle: show },
  {
    method: 'PATCH',
    path: '/admin/v1/keys/{id}',
    summary: 'Changes a key',
    role: 'keys',
    takes: 'KeyChange',
    gives: [200, 'Key'],
    handle: change,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/keys/{id}',
    summary: 'Revokes a key for ever',
    role: 'keys',
    gives: [204],
    handle: revoke,
  },
  {
    method: 'POST',
    path: '/admin/v1/keys/{id}/rotate',
    summary: 'Gives a key a new secret, shown once',
    role: 'keys',
    takes: 'Rotation',
    gives: [200, 'IssuedKey'],
    handle: rotate,
  },
  {
    method: 'GET',
    path: '/admin/v1/keys/{id}/history',
    summary: 'Who changed what, from what, to what, when',
    role: 'read',
    gives: [200, 'History'],
    handle: history,
  },
];

async function list({ parts, query }: Call): Promise<Answer> {
  const { count, cursor } = readPaging(query);
  const page = await parts.registry.list(readFilter(query), cursor, count);
  const nowMs = await parts.registry.nowMs();
  return { json: { keys: page.keys.map((record) => viewOf(record, nowMs)), cursor: page.cursor } };
}

async function create({ parts, body, actor }: Call): Promise<Answer> {
  const { record, token } = await parts.registry.create(body, actor);
  return { json: { id: record.id, key: token, ...(await shown(parts, record)) } };
}

async function show({ parts, id }: Call): Promise<Answer> {
  return { json: await shown(parts, await parts.registry.get(id)) };
}

async function change({ parts, id, body, actor }: Call): Promise<Answer> {
  return { json: await shown(parts, await parts.registry.change(id, body, actor)) };
}

async function revoke({ parts, id, actor }: Call): Promise<undefined> {
  await parts.registry.revoke(id, actor);
}

async function rotate({ parts, id, body, actor }: Call): Promise<Answer> {
  const { record, token } = await parts.registry.rotate(id, overlapMsOf(body), actor);
  return { json: { id: record.id, key: token, ...(await shown(parts, record)) } };
}

async function history({ parts, id }: Call): Promise<Answer> {
  const entries = await parts.registry.history(id);
  return { json: { history: entries.map(entryView) } };
}

export function overlapMsOf(body: Call['body']): number {
  const problems = unknownFields(body, ['overlap']);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const overlap = Object.hasOwn(body, 'overlap') ? body['overlap'] : DEFAULT_OVERLAP;
  const overlapMs = typeof overlap === 'string' ? parseDurationMs(overlap) : undefined;
  // The registry refuses what is out of bounds in the same words.
  return overlapMs ?? Number.NaN;
}

async function shown({ registry }: Call['parts'], record: KeyRecord): Promise<Record<string, unknown>> {
  return viewOf(await registry.asItHolds(record), await registry.nowMs());
}

/** A key as operators see it, with plan, limits and grants as they hold: never a secret nor a hash, only when each secret ends. */
export function viewOf(record: KeyRecord, nowMs: number): Record<string, unknown> {
  return {
    id: record.id,
    name: record.name,
    customer: customerOf(record.id),
    plan: record.plan,
    status: record.status,
    limits: record.limits,
    grants: grantsView(record.grants, nowMs),
    scopes: record.scopes,
    note: record.note,
    created: isoOrNull(record.createdAtMs),
    expires: isoOrNull(record.expiresAtMs),
    secrets: record.secrets.map(({ endsAtMs }) => ({ ends: isoOrNull(endsAtMs) })),
  };
}

export function entryView({ atMs, actor, action, changed }: AuditEntry): Record<string, unknown> {
  return { at: isoOrNull(atMs), actor: actor ?? null, action, changed };
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
