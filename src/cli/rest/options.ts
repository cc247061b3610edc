import type { Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { DAY_MS } from '../../shared/utc-day.js';
import type { Role } from '../../gateway/store/records/admin-token.js';

/** Listed here, because the image of pets has this command line and no gateway. */
const ROLES = Object.keys({ read: true, billing: true, keys: true, operator: true } satisfies Record<Role, true>);

/** Every option of the commands that are requests: its value, what it says, and its fields of the request. */
interface OptionSpec {
  readonly value?: string;
  readonly about: string;
  readonly choices?: readonly string[];
  readonly fallback?: string;
  /** One of the option's own name unless said. */
  readonly fields?: (value: string) => Json;
}

export const OPTIONS: Readonly<Record<string, OptionSpec>> = {
  addresses: { about: 'list banned addresses instead of keys', fields: () => ({}) },
  allScopes: { about: 'allow every scope', fields: () => ({ scopes: null }) },
  customer: { value: '<id>', about: 'the id of a customer' },
  day: { value: '<units>', about: 'units per day', fields: limitOf('day') },
  dead: { about: 'events that are no longer retried' },
  environment: {
    value: '<name>',
    about: "the gateway's environment: moves the store of another one over to it",
  },
  expires: {
    value: '<date>',
    about: 'such as 2027-01-31, 2027-01-31T12:00:00Z or 90d (days from now); never removes it',
    fields: (text) => ({ expires: text === 'never' ? null : dateOf(text) }),
  },
  from: { value: '<day>', about: 'first UTC day' },
  for: { value: '<duration>', about: 'such as 10m, 1h, 7d' },
  import: { about: 'read an existing key of another form from standard input' },
  limit: { value: '<count>', about: 'at most this many', fields: checkCount },
  minute: {
    value: '<units>',
    about: 'units per minute, or "unlimited" (plans with custom limits)',
    fields: limitOf('minute'),
  },
  month: { value: '<units>', about: 'units per calendar month', fields: limitOf('month') },
  name: { value: '<name>', about: 'the name; with list, its beginning' },
  note: { value: '<text>', about: 'a note for operators' },
  overlap: {
    value: '<duration>',
    about: 'how long the old secret stays valid, such as 30m, 24h, 7d; 0s ends it immediately',
    fallback: '24h',
  },
  plan: { value: '<plan>', about: 'a plan of plans.yaml, such as free or pro' },
  reason: { value: '<text>', about: "stored with the ban and in the key's history" },
  reference: { value: '<text>', about: 'its id in your billing system' },
  role: { value: '<role>', about: 'what it allows', choices: ROLES },
  scheduled: { about: 'events of the future: keys that will expire' },
  scope: {
    value: '<scope...>',
    about: 'allow only these scopes, such as pets:read (default: all)',
    fields: (scopes: unknown) => ({ scopes }),
  },
  search: { value: '<text>', about: 'only those with this in their name, id or reference, in any case' },
  status: { value: '<status>', about: 'enabled or disabled; with list also revoked' },
  to: { value: '<day>', about: 'last UTC day' },
  until: {
    value: '<date>',
    about: 'when it ends: 2027-01-31, 2027-01-31T12:00:00Z or 90d (days from now)',
    fields: (text) => ({ until: dateOf(text) }),
  },
};

/** What the given options say, together. */
export function fieldsIn(names: readonly string[], values: Readonly<Record<string, unknown>>): Json {
  const all: Record<string, unknown> = {};
  for (const name of names) {
    const value = values[name] as string | undefined;
    if (value === undefined) continue;
    const { limits, ...fields } = OPTIONS[name]!.fields?.(value) ?? { [name]: value };
    Object.assign(all, fields);
    if (limits !== undefined) all['limits'] = { ...(all['limits'] as Json | undefined), ...(limits as Json) };
  }
  return all;
}

/** A date as the gateway takes it. What is none goes as it is: the gateway says why not. */
function dateOf(text: string): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  return days === undefined ? text : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
}

/** A figure as a number; anything else goes as it is. */
function limitOf(window: string): (text: string) => Json {
  return (text) => ({ limits: { [window]: /^[0-9]{1,15}$/.test(text) ? Number(text) : text } });
}

function checkCount(text: string): Json {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return {};
  throw new CommandError('--limit must be a whole number from 1.', 2);
}
