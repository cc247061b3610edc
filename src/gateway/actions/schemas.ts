import { z } from 'zod';
import { keyChange } from '../accounts/keys/change.js';
import { newCorrection } from '../accounts/corrections.js';
import { newCredit } from '../accounts/credits.js';
import { newKey } from '../accounts/keys/create.js';
import { customerChange, newCustomer } from '../accounts/customers/registry.js';
import { limits, NO_RULES, text, type Shape } from '../accounts/fields.js';
import { newGrant } from '../accounts/grants.js';
import { REFUSED_AS } from '../accounts/state.js';
import { forEachCount } from '../store/records/counts.js';
import { OUTBOX_STATES } from '../store/outbox/event.js';
import { duration } from '../config/schema/values.js';
import { ROLES } from '../store/records/admin-token.js';
import { CHANGED } from './access/audit.js';
import { newToken } from './access/tokens.js';

/** The schemas that OpenAPI refers to by name. */
export const NAMED = z.registry<{ readonly id: string }>();

const named = <Schema extends z.ZodType>(id: string, schema: Schema): Schema => {
  NAMED.add(schema, { id });
  return schema;
};
/** Names the schema of a response. */
const answer = <Fields extends Shape>(id: string, fields: Fields) => named(id, z.object(fields));
/** Names the schema of a request body, which also parses it. */
const body = <Fields extends Shape>(id: string, fields: Fields) => named(id, z.strictObject(fields));

const TEXT = z.string();
const COUNT = z.int().min(0);
const MOMENT = TEXT.meta({ format: 'date-time' });
const DAY = TEXT.meta({ format: 'date' });
const CURSOR = TEXT.nullable().describe('Null after the last page');
const SECRETS = z.array(z.object({ ends: MOMENT.nullable() }));

export const ErrorBody = answer('Error', { code: TEXT, message: TEXT, status: z.int() });
export const Liveness = answer('Liveness', { alive: z.boolean() });
const PART = z.object({ ok: z.boolean(), degraded: z.boolean().optional(), detail: TEXT.optional() });
export const Ready = answer('Readiness', { ready: z.boolean(), parts: z.record(TEXT, PART) });
export const AcceptStore = body('AcceptStore', {
  environment: TEXT.optional().describe("This gateway's own, where the store belongs to another: it moves over"),
});
export const AcceptedStore = answer('AcceptedStore', {
  id: TEXT,
  accepted: z.boolean().describe('False where there was nothing to accept'),
});

export const NewGrant = body('NewGrant', newGrant(0));
export const Grant = answer('Grant', {
  id: COUNT.describe('What the grant is withdrawn by'),
  window: NewGrant.shape.window,
  units: NewGrant.shape.units,
  until: MOMENT,
  note: TEXT,
  by: TEXT,
  at: MOMENT,
});
export const NewCredit = body('NewCredit', newCredit());
export const Credit = answer('Credit', {
  id: TEXT,
  units: z.int(),
  note: TEXT.nullable().describe('Null after erasing'),
  by: TEXT,
  at: MOMENT,
  sum: COUNT.describe('All credits up to this one: the limit of the balance'),
});
export const CreditList = answer('CreditList', { credits: z.array(Credit).describe('The oldest first') });
const CREDITED = COUNT.optional().describe('The sum of credits: the limit of a prepaid balance; absent without one');
const GRANTS = z.array(Grant).describe('What is granted beyond the limits for now');
export const GrantList = answer('GrantList', { grants: GRANTS });

export const NewKey = body('NewKey', newKey(NO_RULES));
export const KeyChange = body('KeyChange', keyChange(NO_RULES));
/** How long the secret before stays valid. */
export const Rotation = body('Rotation', {
  overlap: duration('0s', '90d')
    .prefault('24h')
    .describe('How long the old secret stays valid; 0s ends it immediately'),
});
export const Ban = answer('Ban', { key: TEXT, until: MOMENT, level: COUNT, reason: TEXT.nullable(), by: TEXT });
const KEY = {
  id: TEXT,
  name: TEXT,
  customer: TEXT.nullable().describe("Whose key it is: then plan and limits are the customer's"),
  plan: TEXT,
  status: z.enum(['enabled', 'disabled', 'revoked']),
  state: z.enum(['enabled', ...REFUSED_AS]).describe('What it is refused for now; enabled: it is not'),
  reasons: z.array(z.enum(REFUSED_AS)).describe('All that speaks against it, its state first'),
  ban: Ban.nullable().describe('The ban in force'),
  limits,
  grants: GRANTS,
  credited: CREDITED,
  scopes: z.array(TEXT).nullable(),
  note: TEXT,
  created: MOMENT,
  expires: MOMENT.nullable(),
  secrets: SECRETS,
};
export const Key = answer('Key', KEY);
export const IssuedKey = answer('IssuedKey', { ...KEY, key: TEXT.describe('The token, shown this once') });
export const KeyPage = answer('KeyPage', { keys: z.array(Key), cursor: CURSOR });
const ENTRY = z.object({ at: MOMENT, actor: TEXT.nullable(), action: TEXT, changed: z.record(TEXT, z.unknown()) });
export const History = answer('History', { history: z.array(ENTRY) });
const COUNTED = forEachCount(COUNT);
export const StoreImport = answer('StoreImport', {
  ...{ added: COUNT, changed: COUNT, unchanged: COUNT },
  newer: COUNT.describe('Changed here since the export: they stay'),
  raised: COUNT.describe('Rows of the ledger that grew'),
  sums: z.object({ customers: COUNT, keys: COUNT, tokens: COUNT, ...COUNTED }).describe('What the file holds'),
});
export const ImportResult = answer('ImportResult', { imported: COUNT, unchanged: COUNT });

export const NewCustomer = body('NewCustomer', newCustomer(NO_RULES));
export const CustomerChange = body('CustomerChange', customerChange(NO_RULES));
export const Customer = answer('Customer', {
  id: TEXT,
  name: TEXT,
  reference: NewCustomer.shape.reference.unwrap(),
  plan: TEXT,
  status: z.enum(['enabled', 'disabled', 'closed']),
  limits,
  grants: GRANTS,
  credited: CREDITED,
  note: TEXT,
  created: MOMENT,
});
export const CustomerPage = answer('CustomerPage', { customers: z.array(Customer), cursor: CURSOR });

export const NewBan = body('NewBan', {
  for: duration('1s', '366d').describe('How long, such as 10m, 1h, 7d'),
  reason: text(200).nullable().default(null).describe('Why, for the history; the client does not see it'),
});
export const BanList = answer('BanList', { bans: z.array(Ban) });
export const AddressBanPage = answer('AddressBanPage', {
  bans: z.array(z.object({ address: TEXT.describe('Of IPv6 a /64'), until: MOMENT, level: COUNT })),
  cursor: CURSOR,
});
export const BanPage = answer('BanPage', { bans: z.array(Ban), cursor: CURSOR });

const PLAN = z.object({
  name: TEXT,
  state: z.enum(['in_force', 'retired', 'gone']),
  limits: z.union([limits, z.literal('custom')]).describe('Null for a plan that no longer exists'),
  concurrency: COUNT.nullable().describe('Requests in flight; null without a limit'),
  price: z
    .object({ monthly: COUNT, included: COUNT, perUnit: COUNT, currency: TEXT })
    .nullable()
    .describe("In the currency's smallest coin; null where none is known"),
  keys: COUNT.describe('With a plan of their own'),
  customers: COUNT,
});
export const PlanList = answer('PlanList', { plans: z.array(PLAN) });
export const PlanFile = named('PlanFile', z.record(TEXT, z.unknown()).describe('The plans file, as JSON'));
export const PlanCheck = answer('PlanCheck', { problems: z.array(TEXT), warnings: z.array(TEXT) });

const COINS = z.union([z.int(), TEXT]).optional();
const MONEY = z
  .object({ currency: TEXT.optional(), base: COINS, included: COINS, overage: COINS, amount: COINS })
  .extend({ unknown: TEXT.optional().describe('Why there are no figures') })
  .describe("In the currency's smallest coin; digits where a number would round it");
const owed = <Sum extends z.ZodType>(sum: Sum) =>
  z.object({ before: sum.nullable(), after: sum }).optional().describe('Left out where no plan has a price');
const PAYER = {
  payer: TEXT.nullable().describe('A customer, or a key without one; null of all on the plan'),
  name: TEXT,
};
const REHEARSED = z.object({
  plan: TEXT,
  ...PAYER,
  before: z.object({ requests: COUNT, units: COUNT, refused: COUNT }).describe('As counted; refused: requests'),
  after: z.object({ units: COUNT }).describe('What the new days and months allow of it'),
  above: COUNT.describe('Units that they do not allow'),
  owed: owed(MONEY),
});
const EXCESS = { plan: TEXT, window: TEXT, day: DAY.describe('Of a month the first on which it is spent') };
export const PlanRehearsal = answer('PlanRehearsal', {
  from: DAY,
  to: DAY,
  final: z.boolean().describe('False: the month still grows'),
  plans: z.array(REHEARSED),
  payers: z.array(REHEARSED).describe('Whose figures change, the hardest hit first, 1,000 at most'),
  payersUnlisted: COUNT,
  excesses: z
    .array(z.object({ ...PAYER, ...EXCESS, limit: COUNT, units: COUNT.describe('Beyond the limit') }))
    .describe('New windows that are too small for what was used, the largest first, 1,000 at most'),
  excessesUnlisted: COUNT,
  owed: owed(z.array(MONEY)).describe('In all, by currency, of what is known'),
  missingPlans: z.record(TEXT, COUNT).describe('Plans that were used and the file lacks, with their requests'),
});

export const Event = answer('Event', {
  id: TEXT,
  type: TEXT,
  time: MOMENT,
  data: z.record(TEXT, z.unknown()),
  state: z.enum(OUTBOX_STATES),
  attempts: COUNT,
  failure: TEXT.nullable(),
  due: MOMENT.nullable(),
  dead: MOMENT.nullable(),
});
export const EventPage = answer('EventPage', {
  events: z.array(Event),
  cursor: CURSOR,
  enabled: z.boolean().describe('False: no webhook is set, and nothing is kept'),
});

const WINDOWS = z.array(
  z.object({
    window: TEXT,
    limit: z.union([COUNT, z.literal('unlimited')]),
    remaining: COUNT.nullable().describe('Null without a limit'),
    reset: MOMENT.nullable().describe('Null for a balance'),
  }),
);
export const KeyWindows = answer('KeyWindows', {
  key: TEXT,
  windows: WINDOWS.describe('Empty for a key that is refused'),
  used: DAY.nullable().describe('Last UTC day with a request, in the past 31 days'),
});

const EXCHANGE = z.object({
  request: TEXT.describe("X-Request-Id, which may be the client's own"),
  trace: TEXT,
  decided: MOMENT.nullable().describe("By the store's clock; null where it decided nothing"),
  ended: MOMENT.describe("By the gateway's clock"),
  key: TEXT.nullable(),
  customer: TEXT.nullable(),
  name: TEXT.nullable().describe('Of the key'),
  address: TEXT,
  method: TEXT,
  operation: TEXT,
  plan: TEXT.nullable(),
  outcome: z.enum(['admitted', 'limited', 'banned']).nullable(),
  status: COUNT,
  code: TEXT.nullable().describe('Of the error that the gateway answered with'),
  message: TEXT.nullable().describe('The same in words'),
  reason: TEXT.nullable().describe("What was wrong with the upstream's response, of a 502"),
  setting: TEXT.nullable().describe('The setting that would change it, or that ended the response'),
  credential: TEXT.nullable().describe('What was wrong with the credential'),
  violated: TEXT.nullable().describe('The window that refused'),
  ban: z.object({ until: MOMENT, level: COUNT, started: z.boolean() }).nullable(),
  retryAt: MOMENT.nullable().describe('When the same could have passed'),
  windows: WINDOWS,
  cost: COUNT.nullable(),
  counted: z.boolean().nullable().describe('Whether the ledger counted it; null: nobody knows'),
  upstream: TEXT.nullable(),
  bytes: COUNT,
  ms: z.number(),
  admissionMs: z.number(),
  upstreamMs: z.number(),
});
const REMEMBERED_BY = {
  silentWorkers: COUNT.describe('Processes of this gateway that did not respond in time'),
  gateways: z
    .array(z.object({ gateway: TEXT, host: TEXT, seen: MOMENT }))
    .nullable()
    .describe('The other gateways, each with its own memory; null where the store does not say'),
};
export const ExchangeList = answer('ExchangeList', {
  exchanges: z.array(EXCHANGE).describe('The last first, 50 at most'),
  ...REMEMBERED_BY,
});
const AT_LEAST = COUNT.describe('At least as many: with more than 100 callers a minute, rare ones are not all counted');
export const RefusedList = answer('RefusedList', {
  refused: z
    .array(
      z.object({
        key: TEXT.nullable(),
        name: TEXT.nullable().describe('Of the key'),
        customer: TEXT.nullable(),
        address: TEXT.nullable().describe('IP address, or IPv6 network, of requests without a known key'),
        status: COUNT,
        code: TEXT.nullable().describe("Null: the upstream's own response"),
        lastFiveMinutes: AT_LEAST,
        lastHour: AT_LEAST,
      }),
    )
    .describe('The most frequent of the last five minutes first, 50 at most'),
  ...REMEMBERED_BY,
});

export const AuditList = answer('AuditList', {
  changes: z
    .array(z.object({ at: MOMENT, ...CHANGED }))
    .describe('Through any gateway on the store: the last first, of 5,000 of this one and 200 a day of each other'),
  refused: z
    .array(z.object({ at: MOMENT, address: TEXT }))
    .describe('Wrong admin tokens that this gateway met: the last first, of 1,000'),
  gateways: REMEMBERED_BY.gateways,
});

const HASH = TEXT.nullable();
export const GatewayList = answer('GatewayList', {
  self: z
    .object({ version: TEXT, settings: TEXT, plans: TEXT, contract: TEXT })
    .describe('What this gateway runs by: its version, and short hashes of what is in force'),
  others: z
    .array(
      z.object({
        ...{ gateway: TEXT, host: TEXT, seen: MOMENT },
        ...{ version: HASH, settings: HASH, plans: HASH, contract: HASH },
        differs: z.array(TEXT).describe('What differs from this gateway'),
      }),
    )
    .nullable()
    .describe('Those heard within 15 seconds; null where the store does not say. Of an older version hashes are null'),
});

export const NewCorrection = body('NewCorrection', newCorrection('9999-12-31'));
export const Correction = answer('Correction', {
  id: TEXT,
  key: TEXT.nullable(),
  customer: TEXT.nullable(),
  day: DAY,
  plan: TEXT,
  requests: z.int(),
  units: z.int(),
  reason: TEXT,
  by: TEXT,
  at: MOMENT,
});
export const CorrectionPage = answer('CorrectionPage', { corrections: z.array(Correction), cursor: CURSOR });

export const NewToken = body('NewToken', newToken(0));
const TOKEN = {
  id: TEXT,
  name: TEXT,
  role: z.enum(ROLES),
  state: z.enum(['good', 'expired']),
  created: MOMENT,
  by: TEXT,
  expires: MOMENT.nullable(),
};
export const Token = answer('Token', TOKEN);
export const IssuedToken = answer('IssuedToken', { ...TOKEN, token: TEXT.describe('Shown this once') });
export const TokenList = answer('TokenList', { tokens: z.array(Token) });

const MISSING = z.array(
  z.object({ gateway: TEXT, host: TEXT, from: DAY, to: DAY, lastSeen: MOMENT, finalAt: MOMENT.nullable() }),
);
export const Finality = answer('Finality', { openFrom: DAY, waitingFor: MISSING, without: MISSING });
export const ArchiveStatus = answer('ArchiveStatus', {
  days: COUNT,
  first: DAY.nullable(),
  last: DAY.nullable(),
  dueBefore: DAY,
  waiting: z.array(DAY),
  lacking: z.array(z.object({ day: DAY, lost: z.object(COUNTED).nullable() })),
  pausedUntil: MOMENT.nullable(),
});
