import type { AdminToken } from '../admission/admin-token.js';
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

async function list({ tokens }: Call): Promise<Answer> {
  return { json: { tokens: (await tokens.list()).map(viewOf) } };
}

async function create({ tokens, body, actor }: Call): Promise<Answer> {
  const { record, token } = await tokens.create(body, actor);
  return { json: { id: record.id, token, ...viewOf(record) } };
}

async function show({ tokens, id }: Call): Promise<Answer> {
  return { json: viewOf(await tokens.get(id)) };
}

async function revoke({ tokens, id }: Call): Promise<undefined> {
  await tokens.revoke(id);
}

/** A token as operators see it: never itself nor its hash. */
function viewOf({ id, name, role, createdAtMs, createdBy, expiresAtMs }: AdminToken): Record<string, unknown> {
  const expires = expiresAtMs === null ? null : new Date(expiresAtMs).toISOString();
  return { id, name, role, created: new Date(createdAtMs).toISOString(), by: createdBy, expires };
}
