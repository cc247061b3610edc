import type { Person } from './person.js';

/** What the tasks are about. */
export interface Cast {
  /** Ids of keys: of its own, and banned. */
  readonly key: string;
  readonly banned: string;
  /** Of customers; the second is to be closed. */
  readonly customer: string;
  readonly leaver: string;
  /** The id of a request that was refused. */
  readonly refused: string;
}

interface Task {
  /** As the table of the guide has it. */
  readonly name: string;
  /**
   * The stores that it is done on: what writes on Redis, what reads on the embedded one, the most usual on both; with
   * PETGATE_LONG=1 all on both.
   */
  readonly on: readonly ('embedded' | 'redis')[];
  /** From the first page after signing in until it is done. Gives what the page has to say then. */
  readonly act: (person: Person, cast: Cast) => Promise<RegExp>;
}

const BOTH = ['embedded', 'redis'] as const;
const WRITES = process.env['PETGATE_LONG'] === '1' ? BOTH : (['redis'] as const);
const READS = process.env['PETGATE_LONG'] === '1' ? BOTH : (['embedded'] as const);
const today = (): string => new Date().toISOString().slice(0, 10);

const toKey = async (person: Person, { key }: Cast): Promise<void> => {
  await person.link('Keys');
  await person.one('the key', key);
};
const toCustomer = async (person: Person, id: string): Promise<void> => {
  await person.link('Customers');
  await person.one('the customer', id);
};

/** Each task of an operator, in the order of the table. */
export const TASKS: readonly Task[] = [
  {
    name: 'is anything wrong?',
    on: READS,
    act: () => Promise.resolve(/Nothing is wrong that this gateway can see|a runbook says what to do/),
  },
  {
    name: 'why was this request refused?',
    on: BOTH,
    act: async (person, { refused }) => {
      await person.search(refused);
      await person.button('Why?');
      return /missing_api_key/;
    },
  },
  {
    name: 'who causes the 401s, 429s and 5xx right now?',
    on: BOTH,
    act: () => Promise.resolve(/Most refused[^]*Unlucky app\s+50\d [^]*Eager app\s+429 [^]*401 missing_api_key/),
  },
  {
    name: 'since when is it slow or failing, and which upstream?',
    on: BOTH,
    act: async (person) => {
      await person.link('pets');
      return /“pets”: 0 of 1 up since \d\d:\d\d UTC[^]*The last 15 min, upstream “pets”[^]*5xx\s+100 %/;
    },
  },
  {
    name: 'who is near a limit?',
    on: BOTH,
    act: () => Promise.resolve(/Near a limit[^]*Eager app[^]*100 % of the day/),
  },
  {
    name: 'what did somebody change?',
    on: BOTH,
    act: async (person) => {
      await person.link('Audit');
      return /admin-api\s+Create a key; its token is shown only once\s+key \w+/;
    },
  },
  {
    name: 'who has access?',
    on: READS,
    act: async (person) => {
      await person.link('Access');
      return /Admin tokens[^]*Billing run[^]*billing/;
    },
  },
  {
    name: 'what will this customer pay, and why?',
    on: BOTH,
    act: async (person, { customer }) => {
      await toCustomer(person, customer);
      return /Base[^]*Units included[^]*Sum so far\s+\d+\.\d\d EUR/;
    },
  },
  {
    name: 'hand a key to a developer',
    on: BOTH,
    act: async (person) => {
      await person.link('Create a key');
      await person.type('name', 'New app');
      await person.button('Create');
      return /ptg_\w+[^]*curl -i .*ptg_\w+/;
    },
  },
  {
    name: 'give a key a new secret',
    on: WRITES,
    act: async (person, cast) => {
      await toKey(person, cast);
      await person.open('New secret');
      await person.button('Replace (old secret works 24 h)');
      return /ptg_\w+/;
    },
  },
  {
    name: 'grant a key more for a while',
    on: WRITES,
    act: async (person, cast) => {
      await toKey(person, cast);
      await person.open('Grant more of a window');
      await person.type('units', '500');
      await person.type('until', '2099-01-01');
      await person.button('Grant');
      return /Granted\./;
    },
  },
  {
    name: 'disable a key',
    on: WRITES,
    act: async (person, cast) => {
      await toKey(person, cast);
      await person.button('Disable');
      return /refused from the next request on/;
    },
  },
  {
    name: 'revoke a key',
    on: WRITES,
    act: async (person, cast) => {
      await toKey(person, cast);
      await person.open('Revoke');
      await person.button('Revoke permanently');
      return /Revoked permanently/;
    },
  },
  {
    name: 'ban a key, with a reason',
    on: WRITES,
    act: async (person, { banned }) => {
      await person.link('Bans');
      await person.open('Ban a key');
      await person.type('id', banned);
      await person.type('reason', 'too eager');
      await person.button('Ban');
      return /too eager/;
    },
  },
  {
    name: 'lift a ban',
    on: WRITES,
    act: async (person) => {
      await person.link('Bans');
      await person.button('Lift');
      return /The ban is lifted/;
    },
  },
  {
    name: 'create a customer',
    on: WRITES,
    act: async (person) => {
      await person.link('Customers');
      await person.link('Create a customer');
      await person.type('name', 'New shop');
      await person.button('Create');
      return /New shop/;
    },
  },
  {
    name: 'change a customer’s plan',
    on: WRITES,
    act: async (person, { customer }) => {
      await toCustomer(person, customer);
      await person.open('Change');
      await person.choose('plan', 'pro');
      await person.button('Change');
      return /plan: basic → pro/;
    },
  },
  {
    name: 'grant a customer more for a while',
    on: WRITES,
    act: async (person, { customer }) => {
      await toCustomer(person, customer);
      await person.open('Grant more of a window');
      await person.type('units', '500');
      await person.type('until', '2099-01-01');
      await person.button('Grant');
      return /Granted\./;
    },
  },
  {
    name: 'correct a customer’s usage',
    on: WRITES,
    act: async (person, { customer }) => {
      await toCustomer(person, customer);
      await person.open('Correct usage');
      await person.type('day', today());
      await person.type('units', '-5');
      await person.type('reason', 'an outage');
      await person.button('Correct');
      return /Corrected/;
    },
  },
  {
    name: 'close a customer',
    on: WRITES,
    act: async (person, { leaver }) => {
      await toCustomer(person, leaver);
      await person.open('Close');
      await person.button('Close permanently, with all its keys');
      return /Closed permanently, with all its keys/;
    },
  },
  {
    name: 'what does a customer owe this month?',
    on: READS,
    act: async (person, { customer }) => {
      await toCustomer(person, customer);
      await person.link('The bill of this month');
      return /\d\.\d\d EUR/;
    },
  },
  {
    name: 'take the usage of a month away, as CSV',
    on: READS,
    act: async (person) => {
      await person.link('Usage');
      const download = person.page.waitForEvent('download');
      await person.link('CSV');
      await (await download).delete();
      return /Usage/;
    },
  },
  {
    name: 'who is on which plan?',
    on: READS,
    act: async (person) => {
      await person.link('Plans');
      return /Plans, and who is on them/;
    },
  },
  {
    name: 'what would other plans have made of this month?',
    on: READS,
    act: async (person) => {
      await person.link('Plans');
      await person.link('Rehearse other plans');
      await person.button('Rehearse');
      return /with the new plans \d+\.\d\d EUR/;
    },
  },
  {
    name: 'have an event delivered now',
    on: WRITES,
    act: async (person) => {
      await person.link('Events');
      await person.link('scheduled');
      await person.button('Redeliver');
      return /delivered again now/;
    },
  },
  {
    name: 'which settings are in force, and who said so?',
    on: READS,
    act: async (person) => {
      await person.link('Settings');
      return /gateway\.yaml:\d+/;
    },
  },
  {
    name: 'end all sessions',
    on: WRITES,
    act: async (person) => {
      await person.link('Access');
      await person.button('End all sessions');
      return /Admin token/;
    },
  },
];
