import { isoOrNull } from '../../accounts/edits.js';
import { hasExpired, type AdminToken } from '../../store/records/admin-token.js';
import { IssuedToken, NewToken, Token, TokenList } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';

const TOKENS = '/admin/v1/tokens';

export const TOKEN_ROUTES: readonly Route[] = [
  route(`GET ${TOKENS}`, 'operator', 'Lists admin tokens', {
    gives: TokenList,
    handle: async ({ parts, tokens }) => {
      const [records, nowMs] = [await tokens.list(), await parts.registry.nowMs()];
      return { json: { tokens: records.map((record) => viewOf(record, nowMs)) } };
    },
  }),
  route(`POST ${TOKENS}`, 'operator', 'Creates an admin token; only this response shows it', {
    takes: NewToken,
    status: 201,
    gives: IssuedToken,
    handle: async ({ parts, tokens, body, actor }) => {
      const { record, token } = await tokens.create(body, actor);
      return { json: { token, ...viewOf(record, await parts.registry.nowMs()) } };
    },
  }),
  route(`GET ${TOKENS}/{id}`, 'operator', 'One admin token', {
    gives: Token,
    handle: async ({ parts, tokens, id }) => ({ json: viewOf(await tokens.get(id), await parts.registry.nowMs()) }),
  }),
  route(`DELETE ${TOKENS}/{id}`, 'operator', 'Revokes an admin token at once', {
    handle: ({ tokens, id }) => tokens.revoke(id),
  }),
  route('DELETE /admin/v1/sessions', 'operator', 'Ends all sessions of the console and of account pages', {
    handle: ({ parts }) => parts.engine.sessionSecret.replace(),
  }),
];

/** A token as operators see it: never itself nor its hash. */
function viewOf(record: AdminToken, nowMs: number): object {
  const { id, name, role, createdAtMs, createdBy: by, expiresAtMs } = record;
  const [created, expires] = [createdAtMs, expiresAtMs].map(isoOrNull);
  return { id, name, role, state: hasExpired(record, nowMs) ? 'expired' : 'good', created, by, expires };
}
