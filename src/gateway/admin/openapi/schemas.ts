import { z } from 'zod';
import { keyChange } from '../../accounts/change.js';
import { newKey } from '../../accounts/create.js';
import { customerChange, newCustomer } from '../../accounts/customers/registry.js';
import { newWebhook } from '../../accounts/customers/webhooks.js';
import { NO_RULES } from '../../accounts/fields.js';
import type { Shape } from '../../accounts/fields.js';
import { newGrant } from '../../accounts/grants.js';
import { newToken } from '../access/tokens.js';
import { ROLES } from '../../store/records/admin-token.js';
import { OUTBOX_STATES } from '../../store/outbox/event.js';

/** A JSON Schema. */
type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean' };
const COUNT = { type: 'integer', minimum: 0 };
const MOMENT = { type: 'string', format: 'date-time' };
const DAY = { type: 'string', format: 'date' };
const DURATION = { type: 'string', examples: ['24h'] };
const LIMIT = { oneOf: [{ type: 'integer', minimum: 1 }, { const: 'unlimited' }] };
const LIMITS = orNull(object({ minute: LIMIT, day: LIMIT }, { month: LIMIT }));
const SCOPES = orNull(listOf(TEXT));
const CURSOR = { ...orNull(TEXT), description: 'Null after the last page' };
const MISSING = object({
  gateway: TEXT,
  host: TEXT,
  from: DAY,
  to: DAY,
  lastSeen: MOMENT,
  finalAt: orNull(MOMENT),
});

const GRANT = {
  id: { ...COUNT, description: 'What the grant is withdrawn by' },
  window: { enum: ['minute', 'day', 'month'] },
  units: { type: 'integer', minimum: 1 },
  until: MOMENT,
  note: TEXT,
  by: TEXT,
  at: MOMENT,
};
const GRANTS = { ...listOf(object(GRANT)), description: 'What is granted beyond the limits for now' };

const KEY = {
  id: TEXT,
  name: TEXT,
  customer: { ...orNull(TEXT), description: "Whose key it is: then plan and limits are the customer's" },
  plan: TEXT,
  status: { enum: ['enabled', 'disabled', 'revoked'] },
  limits: LIMITS,
  grants: GRANTS,
  scopes: SCOPES,
  note: TEXT,
  created: MOMENT,
  expires: orNull(MOMENT),
  secrets: listOf(object({ ends: orNull(MOMENT) })),
};
const CUSTOMER = {
  id: TEXT,
  name: TEXT,
  reference: { ...TEXT, description: 'Its id in the billing system; may be empty' },
  plan: TEXT,
  status: { enum: ['enabled', 'disabled', 'closed'] },
  limits: LIMITS,
  grants: GRANTS,
  note: TEXT,
  created: MOMENT,
};

const WEBHOOK = { receiver: TEXT, secrets: listOf(object({ ends: orNull(MOMENT) })) };

const TOKEN = {
  id: TEXT,
  name: TEXT,
  role: { enum: ROLES },
  state: { enum: ['good', 'expired'] },
  created: MOMENT,
  by: TEXT,
  expires: orNull(MOMENT),
};

/** The forms of bodies, for readers: what is refused, and in which words, is the registry's to say. */
export const SCHEMAS = {
  Error: object({ code: TEXT, message: TEXT, status: { type: 'integer' } }),
  Liveness: object({ alive: FLAG }),
  AcceptedStore: object({
    id: TEXT,
    accepted: { ...FLAG, description: 'False where there was nothing to accept' },
  }),
  Readiness: object({
    ready: FLAG,
    parts: { type: 'object', additionalProperties: object({ ok: FLAG }, { degraded: FLAG, detail: TEXT }) },
  }),
  Key: object(KEY),
  IssuedKey: object({ ...KEY, key: { ...TEXT, description: 'The token, shown this once' } }),
  KeyPage: object({ keys: listOf(object(KEY)), cursor: CURSOR }),
  NewKey: bodyOf(newKey(NO_RULES)),
  KeyChange: bodyOf(keyChange(NO_RULES)),
  Rotation: object({}, { overlap: DURATION }),
  History: object({
    history: listOf(object({ at: MOMENT, actor: orNull(TEXT), action: TEXT, changed: { type: 'object' } })),
  }),
  ImportResult: object({ imported: COUNT, unchanged: COUNT }),
  Customer: object(CUSTOMER),
  CustomerPage: object({ customers: listOf(object(CUSTOMER)), cursor: CURSOR }),
  NewCustomer: bodyOf(newCustomer(NO_RULES)),
  CustomerChange: bodyOf(customerChange(NO_RULES)),
  Grant: object(GRANT),
  GrantList: object({ grants: GRANTS }),
  NewGrant: bodyOf(newGrant(0)),
  Webhook: object(WEBHOOK),
  IssuedWebhook: object({
    ...WEBHOOK,
    secret: { ...orNull(TEXT), description: 'What events are signed with, shown this once; null where it stays' },
  }),
  NewWebhook: bodyOf(newWebhook([])),
  NewBan: object({ for: DURATION }, { reason: orNull(TEXT) }),
  Ban: banned(),
  BanList: object({ bans: listOf(banned()) }),
  BanPage: object({ bans: listOf(banned()), cursor: CURSOR }),
  PlanList: object({
    plans: listOf(
      object({
        name: TEXT,
        state: { enum: ['in_force', 'retired', 'gone'] },
        limits: { ...orNull({ oneOf: [LIMITS, { const: 'custom' }] }), description: 'Null of a plan that is gone' },
        keys: { ...COUNT, description: 'With a plan of their own' },
        customers: COUNT,
      }),
    ),
  }),
  PlanFile: { type: 'object', description: 'The plans file, as JSON' },
  PlanCheck: object({ problems: listOf(TEXT), warnings: listOf(TEXT) }),
  Event: told(),
  EventPage: object({
    events: listOf(told()),
    cursor: CURSOR,
    enabled: { ...FLAG, description: 'False: no webhook is set, and nothing is kept' },
  }),
  Token: object(TOKEN),
  IssuedToken: object({ ...TOKEN, token: { ...TEXT, description: 'Shown this once' } }),
  TokenList: object({ tokens: listOf(object(TOKEN)) }),
  NewToken: bodyOf(newToken(0)),
  Finality: object({ openFrom: DAY, waitingFor: listOf(MISSING), without: listOf(MISSING) }),
  ArchiveStatus: object({
    days: COUNT,
    first: orNull(DAY),
    last: orNull(DAY),
    dueBefore: DAY,
    waiting: listOf(DAY),
    pausedUntil: orNull(MOMENT),
  }),
} satisfies Readonly<Record<string, Schema>>;

export type SchemaName = keyof typeof SCHEMAS;

function banned(): Schema {
  return object({ key: TEXT, until: MOMENT, level: COUNT, reason: orNull(TEXT), by: TEXT });
}

function told(): Schema {
  const state = { enum: OUTBOX_STATES };
  const due = orNull(MOMENT);
  return object({
    id: TEXT,
    type: TEXT,
    time: MOMENT,
    data: { type: 'object' },
    state,
    attempts: COUNT,
    failure: orNull(TEXT),
    due,
    dead: due,
  });
}

/** Of a body, as it is read. */
function bodyOf(fields: Shape): Schema {
  return z.toJSONSchema(z.strictObject(fields), { io: 'input' });
}

function object(required: Schema, optional: Schema = {}): Schema {
  return { type: 'object', required: Object.keys(required), properties: { ...required, ...optional } };
}

function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

function orNull(schema: Schema): Schema {
  return { oneOf: [schema, { type: 'null' }] };
}
