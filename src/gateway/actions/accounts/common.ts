import { z } from 'zod';
import type { Body } from '../../accounts/fields.js';
import type { Account } from '../../accounts/edits.js';
import type { RecordRegistry } from '../../accounts/record-registry.js';
import type { Access } from '../access/roles.js';
import type { Answer } from '../answer.js';
import { Credit, CreditList, Grant, GrantList, History, NewCredit, NewGrant } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { dayIn, type Command, type Json, type Prints, type Values } from '../command.js';
import type { Form } from '../form.js';
import { creditsIn } from '../../store/records/credit.js';
import { cell, changesText } from '../../../shared/text/readable.js';
import { creditView, entryView, grantsView, grantView } from './views.js';

interface Registry<R extends Account> extends Pick<
  RecordRegistry<R, object>,
  'get' | 'effective' | 'history' | 'grant' | 'withdraw' | 'credit'
> {
  change(id: string, body: Body, actor: string): Promise<R>;
}

/** The differences between keys and customers. */
interface Kind<R extends Account> {
  readonly name: 'key' | 'customer';
  readonly path: string;
  /** An ID for examples. */
  readonly example: string;
  readonly change: Pick<Action, 'commands' | 'forms'>;
  readonly end: {
    readonly word: string;
    readonly form: Pick<Form, 'name' | 'button' | 'opens' | 'done'>;
    /** What the command line says after it, and after erasing. */
    readonly ended: string;
    readonly erased: string;
  };
  readonly hasEnded: (record: Json) => boolean;
  /** Whether an argument of the command line is an ID of this kind. */
  readonly isId: (text: string) => boolean;
  /** The role for reading. */
  readonly reader: Access;
  readonly registry: (parts: AdminParts) => Registry<R>;
  readonly takes: z.ZodType;
  readonly gives: z.ZodType;
  readonly view: (parts: AdminParts, record: R) => Promise<object>;
  readonly close: (parts: AdminParts, id: string, actor: string) => Promise<unknown>;
  /** Everything stored about one, as JSON. */
  readonly exported: (parts: AdminParts, record: R) => AsyncGenerator<string, void>;
  readonly erase: (parts: AdminParts, id: string, actor: string) => Promise<void>;
}

/** Actions on one key or customer. Plan, limits and grants are shown as they are in effect. */
export function accountActions<R extends Account>(kind: Kind<R>): readonly Action[] {
  const { name, example, path, reader, registry, takes, gives, view, end, hasEnded } = kind;
  const on = `/${name}s/{id}`;
  const offered = (word: string, prints?: Prints): Command => ({
    usage: `${name}s ${word} <id>`,
    example,
    ...(prints && { prints }),
  });
  const shown = async (parts: AdminParts, record: R): Promise<Answer> => ({
    json: await view(parts, await registry(parts).effective(record)),
  });
  return [
    action(`GET ${path}`, reader, `Show one ${name}`, {
      commands: offered('show'),
      gives,
      handle: async ({ parts, id }) => shown(parts, await registry(parts).get(id)),
    }),
    action(`PATCH ${path}`, 'keys', `Change a ${name}; takes effect on the next request`, {
      ...kind.change,
      takes,
      gives,
      handle: async ({ parts, id, body, actor }) => shown(parts, await registry(parts).change(id, body, actor)),
    }),
    action(
      `DELETE ${path}`,
      'keys',
      `${name === 'key' ? 'Revoke a key' : 'Close a customer and all its keys'} permanently`,
      {
        commands: offered(end.word, { done: end.ended }),
        forms: { on, isDanger: true, isFor: (record) => !hasEnded(record), ...end.form },
        handle: async ({ parts, id, actor }) => void (await kind.close(parts, id, actor)),
      },
    ),
    action(`GET ${path}/history`, reader, `List the changes of a ${name}`, {
      commands: offered('history', HISTORY_TABLE),
      gives: History,
      handle: async ({ parts, id }) => ({ json: { history: (await registry(parts).history(id)).map(entryView) } }),
    }),
    ...grantActions(kind),
    ...creditActions(kind),
    action(`GET ${path}/export`, 'operator', `Export all that is stored about a ${name}, without secrets`, {
      commands: { ...offered('export', { file: true }), example: `${example} --output ${name}.json` },
      gives: ['application/json'],
      handle: async ({ parts, id }) => ({
        type: 'application/json',
        chunks: kind.exported(parts, await registry(parts).get(id)),
      }),
    }),
    action(
      `POST ${path}/erase`,
      'operator',
      `Erase name and notes of a ${name} that has ended; its ID and usage stay`,
      {
        commands: offered('erase', { done: end.erased }),
        forms: {
          on,
          name: 'erased',
          button: 'Erase name and notes permanently',
          opens: 'Erase',
          isDanger: true,
          isFor: hasEnded,
          done: 'Name and notes are erased.',
        },
        handle: ({ parts, id, actor }) => kind.erase(parts, id, actor),
      },
    ),
  ];
}

/** The forms that disable and enable the record of a page. */
export function statusForms(
  on: string,
  disable: Pick<Form, 'button' | 'opens' | 'isDanger' | 'done'>,
  enabled: string,
) {
  const toStatus = (from: string, to: string) => ({
    ...{ on, name: to, sends: { status: to } },
    isFor: ({ status }: Json): boolean => status === from,
  });
  return [
    { ...toStatus('enabled', 'disabled'), ...disable },
    { ...toStatus('disabled', 'enabled'), button: 'Enable', done: enabled },
  ] as const;
}

/** Actions on temporary additions to limits. */
function grantActions<R extends Account>({ name, example, path, reader, registry }: Kind<R>): readonly Action[] {
  return [
    action(`GET ${path}/grants`, reader, `List the grants of a ${name} that are in force`, {
      commands: { usage: `${name}s grants <id>`, example, prints: GRANTS_TABLE },
      gives: GrantList,
      handle: async ({ parts, id }) => {
        const { grants } = await registry(parts).effective(await registry(parts).get(id));
        return { json: { grants: grantsView(grants, await parts.registry.nowMs()) } };
      },
    }),
    action(`POST ${path}/grants`, 'keys', `Give a ${name} more of one window for a while, on top of its limit`, {
      commands: {
        usage: `${name}s grant <id>`,
        prints: { ...GRANTS_TABLE, list: (made) => [made] },
        example: `${example} --day 500 --until 2027-12-31 --note "launch week"`,
        instead: { fields: GRANT_FIELDS, body: grantIn },
      },
      forms: {
        on: `/${name}s/{id}`,
        name: 'granted',
        button: 'Grant',
        opens: 'Grant more of a window',
        isApart: true,
        initial: { window: 'day' },
        done: 'Granted.',
      },
      takes: NewGrant,
      status: 201,
      gives: Grant,
      handle: async ({ parts, id, body, actor }) => {
        const { grants = [] } = await registry(parts).grant(id, body, actor);
        return { json: grantView(grants.at(-1)!) };
      },
    }),
    action(`DELETE ${path}/grants/{grant}`, 'keys', `End a grant of a ${name} now, by its number`, {
      commands: {
        usage: `${name}s withdraw <id> <grant>`,
        example: `${example} 2`,
        prints: { done: 'Grant {grant} has ended.' },
      },
      forms: {
        on: `/${name}s/{id}`,
        name: 'grants/{part}/withdrawn',
        button: 'Withdraw',
        isApart: true,
        done: 'The grant is withdrawn.',
      },
      handle: ({ parts, id, grant, actor }) => registry(parts).withdraw(id, grant, actor),
    }),
  ];
}

/** Actions on a prepaid balance. */
function creditActions<R extends Account>({ name, path, example, reader, registry, isId }: Kind<R>): readonly Action[] {
  const when = ({ payer = '' }: Values): boolean => isId(payer);
  return [
    action(`GET ${path}/credits`, reader, `List the credits of a ${name}`, {
      commands: {
        ...{ usage: 'credits list <payer>', about: 'list the credits of a key or customer', when, example },
        prints: CREDITS_TABLE,
      },
      gives: CreditList,
      handle: async ({ parts, id }) => ({
        json: { credits: creditsIn(await registry(parts).history(id)).map(creditView) },
      }),
    }),
    action(`POST ${path}/credits`, 'billing', `Add to the prepaid balance of a ${name}, or take back what is left`, {
      commands: {
        ...{ usage: 'credits add <payer>', when },
        about: 'add to the prepaid balance of a key or customer, or take back what is left',
        example: `${example} --id inv-7 --units 10000 --note "invoice 7"`,
        prints: { text: creditedText },
      },
      forms: {
        on: `/${name}s/{id}`,
        name: 'credited',
        button: 'Add credit',
        opens: 'Credit',
        isFor: (record) => 'credited' in record,
        done: 'Credited: the balance has it from the next request on.',
      },
      takes: NewCredit,
      status: 201,
      gives: Credit,
      handle: async ({ parts, id, body, actor }) => {
        const { credit, isNew } = await registry(parts).credit(id, body, actor);
        return { json: creditView(credit), status: isNew ? 201 : 200 };
      },
    }),
  ];
}

function creditedText({ id, units, sum }: Json): string {
  return `Credit ${cell(id)} of ${cell(units)} units; the credits are ${cell(sum)} units in all.`;
}

const CREDITS_TABLE = {
  list: 'credits',
  columns: ['id', 'units', 'sum', dayIn('at'), 'by', 'note'],
  none: 'No credits.',
} satisfies Prints;

const GRANTS_TABLE = {
  list: 'grants',
  columns: [['grant', ({ id }) => String(id)], 'window', 'units', 'until', 'by', 'note'],
  none: 'No grants in force.',
} satisfies Prints;

const HISTORY_TABLE: Prints = {
  list: 'history',
  columns: ['at', ['by', ({ actor }) => actor], 'action', ['changed', ({ changed }) => changesText(changed as Json)]],
  none: 'No history.',
};

/** On the command line, the option names the window: `--day 500`. */
const GRANTED = NewGrant.shape.units.optional().describe('Units more of this window');
const GRANT_FIELDS = {
  limits: z.strictObject({ minute: GRANTED, day: GRANTED, month: GRANTED }).optional(),
  until: NewGrant.shape.until,
  note: NewGrant.shape.note,
};

function grantIn({ limits = {}, ...fields }: Json): Json {
  const [only, ...others] = Object.entries(limits as Json);
  if (only === undefined || others.length > 0)
    throw new Error('Give one of --minute, --day and --month: a grant is of one window, but there may be several.');
  return { window: only[0], units: only[1], ...fields };
}
