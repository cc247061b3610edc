import { parseDurationMs } from '../config/schema/quantity.js';
import { unknownFields } from '../keys/fields.js';
import type { AuditEntry, KeyRecord } from '../admission/key-record.js';
import { KeyRefused } from '../keys/refused.js';
import type { Answer } from './answer.js';
import { readPaging } from './query.js';
import type { Call, Route } from './route.js';
import { readFilter, TRANSFER_ROUTES } from './transfer.js';

const DEFAULT_OVERLAP = '24h';

export const KEY_ROUTES: readonly Route[] = [
  ...TRANSFER_ROUTES,
  { method: 'GET', path: '/admin/v1/keys', query: ['limit', 'cursor', 'plan', 'status', 'name'], handle: list },
  { method: 'POST', path: '/admin/v1/keys', handle: create },
  { method: 'GET', path: '/admin/v1/keys/{id}', handle: show },
  { method: 'PATCH', path: '/admin/v1/keys/{id}', handle: change },
  { method: 'DELETE', path: '/admin/v1/keys/{id}', handle: revoke },
  { method: 'POST', path: '/admin/v1/keys/{id}/rotate', handle: rotate },
  { method: 'GET', path: '/admin/v1/keys/{id}/history', handle: history },
];

async function list({ parts, query }: Call): Promise<Answer> {
  const { count, cursor } = readPaging(query);
  const page = await parts.registry.list(readFilter(query), cursor, count);
  return { status: 200, json: { keys: page.keys.map(viewOf), cursor: page.cursor } };
}

async function create({ parts, body, actor }: Call): Promise<Answer> {
  const { record, token } = await parts.registry.create(body, actor);
  return { status: 201, json: { id: record.id, key: token, ...viewOf(record) } };
}

async function show({ parts, id }: Call): Promise<Answer> {
  return { status: 200, json: viewOf(await parts.registry.get(id)) };
}

async function change({ parts, id, body, actor }: Call): Promise<Answer> {
  return { status: 200, json: viewOf(await parts.registry.change(id, body, actor)) };
}

async function revoke({ parts, id, actor }: Call): Promise<Answer> {
  await parts.registry.revoke(id, actor);
  return { status: 204 };
}

async function rotate({ parts, id, body, actor }: Call): Promise<Answer> {
  const { record, token } = await parts.registry.rotate(id, overlapMsOf(body), actor);
  return { status: 200, json: { id: record.id, key: token, ...viewOf(record) } };
}

async function history({ parts, id }: Call): Promise<Answer> {
  const entries = await parts.registry.history(id);
  return { status: 200, json: { history: entries.map(entryView) } };
}

function overlapMsOf(body: Call['body']): number {
  const problems = unknownFields(body, ['overlap']);
  if (problems.length > 0) throw new KeyRefused('invalid', problems);
  const overlap = Object.hasOwn(body, 'overlap') ? body['overlap'] : DEFAULT_OVERLAP;
  const overlapMs = typeof overlap === 'string' ? parseDurationMs(overlap) : undefined;
  // The registry refuses what is out of bounds in the same words.
  return overlapMs ?? Number.NaN;
}

/** A key as operators see it: never a secret nor a hash, only when each secret ends. */
function viewOf(record: KeyRecord): Record<string, unknown> {
  return {
    id: record.id,
    name: record.name,
    plan: record.plan,
    status: record.status,
    limits: record.limits,
    scopes: record.scopes,
    note: record.note,
    created: isoOrNull(record.createdAtMs),
    expires: isoOrNull(record.expiresAtMs),
    secrets: record.secrets.map(({ endsAtMs }) => ({ ends: isoOrNull(endsAtMs) })),
  };
}

function entryView({ atMs, actor, action, changed }: AuditEntry): Record<string, unknown> {
  return { at: isoOrNull(atMs), actor: actor ?? null, action, changed };
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}
