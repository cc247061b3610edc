import { hasExpired } from '../store/records/admin-token.js';
import type { AdminToken } from '../store/records/admin-token.js';
import type { Answer } from './answer.js';
import type { Call, Route } from './route.js';

export const TOKEN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/tokens',
    summary: 'Lists admin tokens',
    role: 'operator',
    gives: [200, 'TokenList'],
    handle: list,
  },
  {
    method: 'POST',
    path: '/admin/v1/tokens',
    summary: 'Creates an admin token; the answer shows it, once',
    role: 'operator',
    takes: 'NewToken',
    gives: [201, 'IssuedToken'],
    handle: create,
  },
  {
    method: 'GET',
    path: '/admin/v1/tokens/{id}',
    summary: 'One admin token',
    role: 'operator',
    gives: [200, 'Token'],
    handle: show,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/tokens/{id}',
    summary: 'Revokes an admin token at once',
    role: 'operator',
    gives: [204],
    handle: revoke,
  },
];

async function list({ parts, tokens }: Call): Promise<Answer> {
  const [records, nowMs] = [await tokens.list(), await parts.registry.nowMs()];
  return { json: { tokens: records.map((record) => viewOf(record, nowMs)) } };
}

async function create({ parts, tokens, body, actor }: Call): Promise<Answer> {
  const { record, token } = await tokens.create(body, actor);
  return { json: { id: record.id, token, ...viewOf(record, await parts.registry.nowMs()) } };
}

async function show({ parts, tokens, id }: Call): Promise<Answer> {
  return { json: viewOf(await tokens.get(id), await parts.registry.nowMs()) };
}

async function revoke({ tokens, id }: Call): Promise<undefined> {
  await tokens.revoke(id);
}

/** A token as operators see it: never itself nor its hash. */
function viewOf(record: AdminToken, nowMs: number): Record<string, unknown> {
  const { id, name, role, createdAtMs, createdBy: by, expiresAtMs } = record;
  const created = new Date(createdAtMs).toISOString();
  const expires = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { id, name, role, state: hasExpired(record, nowMs) ? 'expired' : 'good', created, by, expires };
}
