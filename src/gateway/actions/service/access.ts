import { looksLikeToken } from '../../accounts/token.js';
import { AdminRefusal } from '../answer.js';
import { isoOrNull } from '../../accounts/edits.js';
import { hasExpired, type AdminToken } from '../../store/records/admin-token.js';
import { IssuedToken, NewToken, Token, TokenList } from '../schemas.js';
import { action, type Action } from '../action.js';

const TOKENS = '/admin/v1/tokens';

const ROLES_HELP = `Roles:
  read      sees keys and bans
  billing   sees usage, reports with the names in them, and customers
  keys      also creates and changes keys and bans
  operator  everything, tokens too`;

export const TOKEN_ACTIONS: readonly Action[] = [
  action(`GET ${TOKENS}`, 'operator', 'List admin tokens', {
    commands: {
      usage: 'tokens list',
      example: '',
      prints: {
        list: 'tokens',
        columns: ['id', 'name', 'role', 'state', 'created', 'by', 'expires'],
        none: 'No admin tokens but the one of the environment.',
      },
    },
    gives: TokenList,
    handle: async ({ parts, tokens }) => {
      const [records, nowMs] = [await tokens.list(), await parts.registry.nowMs()];
      return { json: { tokens: records.map((record) => viewOf(record, nowMs)) } };
    },
  }),
  action(`POST ${TOKENS}`, 'operator', 'Create an admin token; it is shown only once', {
    commands: {
      usage: 'tokens create',
      example: '--name "Billing job" --role billing --expires 2027-06-30',
      prints: { issued: 'Token created.' },
      help: ROLES_HELP,
    },
    issues: 'token',
    forms: { on: '/access', name: 'created', button: 'Create', opens: 'Create an admin token', isApart: true },
    takes: NewToken,
    status: 201,
    gives: IssuedToken,
    handle: async ({ parts, tokens, body, actor }) => {
      const { record, token } = await tokens.create(body, actor);
      return { json: { token, ...viewOf(record, await parts.registry.nowMs()) } };
    },
  }),
  action(`GET ${TOKENS}/{id}`, 'operator', 'Show one admin token', {
    commands: { usage: 'tokens show <id>', example: '3hT9sQ0aZk1B' },
    gives: Token,
    handle: async ({ parts, tokens, id }) => {
      const record = await tokens.get(id);
      if (record === undefined) throw notFound(id);
      return { json: viewOf(record, await parts.registry.nowMs()) };
    },
  }),
  action(`DELETE ${TOKENS}/{id}`, 'operator', 'Revoke an admin token immediately', {
    commands: {
      usage: 'tokens revoke [id]',
      example: '--expired',
      prints: {
        done: ({ id }, { ids }) => (id === undefined ? gone((ids as string[]).length) : `Token ${id} is revoked.`),
      },
      bulk: {
        option: 'expired',
        about: 'revoke all that have expired, instead of one',
        path: 'tokens',
        list: 'tokens',
        isPaged: false,
        isMeant: ({ state }) => state === 'expired',
      },
    },
    forms: {
      on: '/access',
      name: 'revoked',
      button: 'Revoke now',
      opens: 'Revoke',
      isDanger: true,
      isApart: true,
      done: 'The token is revoked.',
    },
    handle: async ({ tokens, id }) => {
      if (!(await tokens.revoke(id))) throw notFound(id);
    },
  }),
  action('DELETE /admin/v1/sessions', 'operator', 'End all sessions of the console and of account pages', {
    commands: {
      usage: 'sessions end',
      example: '',
      prints: { done: 'All sessions are over: everybody has to sign in again.' },
      help: `Use it when somebody may have a copy of the store, who could then create sessions.
Keys and admin tokens keep working; rotate or revoke one that leaked.`,
    },
    handle: ({ parts }) => parts.engine.sessionSecret.replace(),
  }),
];

function notFound(id: string): AdminRefusal {
  const hint = looksLikeToken(id)
    ? 'a whole token was given: give its id, the 12 characters after pta_'
    : 'no admin token has this id';
  return new AdminRefusal(404, 'token_not_found', hint);
}

function gone(count: number): string {
  return count === 1 ? '1 expired token is gone.' : `${count} expired tokens are gone.`;
}

/** Returns what operators see of a token: never the token or its hash. */
function viewOf(record: AdminToken, nowMs: number): object {
  const { id, name, role, createdAtMs, createdBy: by, expiresAtMs } = record;
  const [created, expires] = [createdAtMs, expiresAtMs].map(isoOrNull);
  return { id, name, role, state: hasExpired(record, nowMs) ? 'expired' : 'good', created, by, expires };
}
