import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { exportCommand, importCommand } from './key-files.js';
import { cell } from '../output.js';
import { group, type Row, type Rows } from './command.js';
import { grants } from './grants.js';
import { dayIn, done, HISTORY, issued, list, pages, record, recordOf } from './show.js';

const COLUMNS = ['id', 'name', 'plan', ['state', stateIn] as const, dayIn('created'), dayIn('expires')];
const ROTATED = issued('New secret made.', 'key', (key) => `${recordOf(key)}\n\n${olderSecretsIn(key)}`);

const ROWS: Rows = {
  create: [
    'create a key; it is shown only once',
    'POST keys',
    issued('Key created.', 'key', recordOf),
    'plan customer name! minute day month note scope expires import',
    { send: withKey },
  ],
  list: [
    'list keys, ordered by id; with --search the newest first',
    'GET keys',
    pages('keys', COLUMNS, 'No keys.'),
    'search plan status name customer limit',
  ],
  'show <id>': ['show one key', 'GET keys/{id}', record()],
  'change <id>': [
    'change a key; takes effect on its next request',
    'PATCH keys/{id}',
    record(),
    'plan name minute day month note scope expires allScopes',
  ],
  'rotate <id>': [
    'give a key a new secret; the old one stays valid for the overlap',
    'POST keys/{id}/rotate',
    ROTATED,
    'overlap',
  ],
  'enable <id>': status('enable', 'enabled'),
  'disable <id>': status('disable', 'disabled'),
  'revoke <id>': ['revoke a key permanently', 'DELETE keys/{id}', done('Key {id} is revoked.')],
  'erase <id>': [
    'erase name and notes of a revoked key permanently; its id and usage stay',
    'POST keys/{id}/erase',
    done('Name and notes of key {id} are erased.'),
  ],
  'windows <id>': [
    'show what each window of a key has left',
    'GET keys/{id}/windows',
    list('windows', ['window', left('remaining'), left('limit'), 'reset'], 'Nothing limits this key.'),
  ],
  'history <id>': ['what happened to a key', 'GET keys/{id}/history', HISTORY],
  ...grants('keys', 'a key'),
};

export function keysCommand(connect: Connect): Command {
  const keys = group(connect, 'keys', 'create, find, change and end API keys', ROWS, EXAMPLES);
  return keys.addCommand(importCommand(connect)).addCommand(exportCommand(connect));
}

function status(word: string, status: string): Row {
  return [`${word} a key`, 'PATCH keys/{id}', done(`Key {id} is ${status}.`), '', { send: () => ({ status }) }];
}

async function withKey({ import: isImported, ...fields }: Json): Promise<Json> {
  if (fields['plan'] === undefined && fields['customer'] === undefined)
    throw new CommandError('Give --plan, or --customer for a key that shares the plan of a customer.', 2);
  return isImported === undefined ? fields : { ...fields, key: (await text(process.stdin)).trim() };
}

function left(field: string): readonly [string, (row: Json) => unknown] {
  return [field, (row) => row[field] ?? 'unlimited'];
}

/** Of a ban its end too. */
function stateIn({ state, ban }: Json): string {
  return state === 'banned' ? `banned until ${cell((ban as Json)['until'])}` : cell(state).replace('_', ' ');
}

/** What became of the secrets before: those behind the first of the answer's `secrets`. */
function olderSecretsIn({ secrets }: Json): string {
  const ends = (secrets as readonly Json[]).slice(1).map((secret) => cell(secret['ends']));
  return ends.length === 0
    ? 'No other secret is valid any more.'
    : `The previous secret is valid until ${ends.join(', the one before it until ')}.`;
}

const EXAMPLES = `
Examples:
  petgate keys create --plan free --name "My app" --expires 90d
  petgate keys create --plan enterprise --name "Big shop" --minute 5000 --day unlimited
  petgate keys create --customer 8hK2mQ0z --name "Their batch job"
  petgate keys list --plan pro --json
  petgate keys change 3hT9sQ0aZk1B --plan pro
  petgate keys rotate 3hT9sQ0aZk1B --overlap 24h
  petgate keys grant 3hT9sQ0aZk1B --day 500 --until 2027-01-31 --note "launch"
  petgate keys create --plan free --name "Old app" --import < key.txt
  petgate keys import old-keys.jsonl`;
