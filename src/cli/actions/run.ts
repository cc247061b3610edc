import { text } from 'node:stream/consumers';
import { linesIn, listIn, type AdminClient, type Connect, type Json, type Method } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import { say, sayJson, styled } from '../terminal/output.js';
import { pourTo } from '../transfer/files.js';
import type { Bulk, Values, Prints } from '../../gateway/actions/command.js';
import type { Offer } from './offer.js';
import { fieldsIn } from './options.js';
import { textOf } from './print.js';
import { refuseSecret, segment } from './segment.js';

interface Wish extends Offer {
  readonly given: Values;
  readonly json: boolean;
}

export async function run(connect: Connect, wish: Wish): Promise<void> {
  const { command, given, json } = wish;
  const { prints, bulk } = command;
  for (const value of Object.values(given)) if (typeof value === 'string') refuseSecret(value);
  if (prints !== undefined && 'file' in prints) return pourTo(connect, pathOf(wish), given['output']);
  if (prints !== undefined && 'lines' in prints) return printLines(connect, wish, prints);
  const response = bulk === undefined ? await ask(connect, wish) : await askEach(connect, wish, bulk);
  const list = pagesOf(wish);
  if (!json) say(textOf(prints, response, given, wish.action.issues));
  else sayJson(list === undefined ? response : { [list]: response[list] });
}

async function ask(connect: Connect, wish: Wish): Promise<Json> {
  const { action, given } = wish;
  const sent = await sentBy(wish);
  const client = await connect();
  const path = pathOf(wish);
  if (action.method !== 'GET')
    return client.ask(action.method as Method, path, Object.keys(sent).length === 0 ? undefined : sent);
  const query = new URLSearchParams(sent as Record<string, string>);
  const list = pagesOf(wish);
  if (list === undefined) return client.ask('GET', query.size === 0 ? path : `${path}?${query.toString()}`);
  query.delete('limit');
  return client.askAll(path, query, list, countIn(given['limit']));
}

/** Returns the name of the list in a paged response; undefined if the response is not paged. */
function pagesOf({ action: { query = {} }, command: { prints } }: Offer): string | undefined {
  if (!('cursor' in query) || prints === undefined || !('list' in prints)) return undefined;
  return typeof prints.list === 'string' ? prints.list : undefined;
}

function countIn(limit: string | undefined): number {
  if (limit === undefined) return Infinity;
  if (/^[1-9][0-9]{0,8}$/.test(limit)) return Number(limit);
  throw new CommandError('--limit must be a whole number from 1.', 2);
}

async function sentBy({ command: { sends, instead }, fields, given }: Wish): Promise<Json> {
  if (sends !== undefined) return sends;
  const secret = fields.find(({ isSecret, name }) => isSecret === true && given[name] !== undefined);
  const values = secret === undefined ? given : { ...given, [secret.name]: (await text(process.stdin)).trim() };
  const said = fieldsIn(fields, values);
  try {
    return instead?.body(said) ?? said;
  } catch (error) {
    throw new CommandError((error as Error).message, 2);
  }
}

/** Sends a request for the given ID, or for each ID of the bulk option. Resolves to the IDs. */
async function askEach(connect: Connect, wish: Wish, bulk: Bulk): Promise<Json> {
  const { action, given } = wish;
  const { id } = given;
  if ((id === undefined) === (given[bulk.option] === undefined))
    throw new CommandError(`Give either an ID or --${bulk.option}.`, 2);
  const client = await connect();
  const ids = id === undefined ? await idsFor(client, bulk) : [id];
  for (const each of ids) await client.ask(action.method as Method, pathOf({ ...wish, given: { id: each } }));
  return { ids };
}

async function idsFor(client: AdminClient, bulk: Bulk): Promise<readonly string[]> {
  const { list, isPaged, isMeant = () => true } = bulk;
  const [path = '', query] = `/admin/v1/${bulk.path}`.split('?');
  const response = await (isPaged ? client.askAll(path, new URLSearchParams(query), list) : client.ask('GET', path));
  return listIn(response, list)
    .filter(isMeant)
    .map(({ id }) => String(id));
}

async function printLines(connect: Connect, wish: Wish, { lines, none }: Extract<Prints, { lines: unknown }>) {
  const { action, json } = wish;
  const query = new URLSearchParams((await sentBy(wish)) as Record<string, string>);
  const response = await (await connect()).open(`${pathOf(wish)}?${query.toString()}`, action.method as Method);
  let [count, damaged] = [0, 0];
  for await (const text of linesIn(response)) {
    const line = JSON.parse(text) as Json;
    const isDamaged = line['ok'] === false;
    count += 1;
    if (isDamaged) damaged += 1;
    if (json) process.stdout.write(`${JSON.stringify(line)}\n`);
    else say(isDamaged ? styled('red', lines(line)) : lines(line));
  }
  if (count === 0 && !json) say(none);
  if (damaged > 0) throw new CommandError(`${damaged} of ${count} are damaged. Restore them from a backup.`);
}

function pathOf({ action: { path }, inPath, given }: Pick<Wish, 'action' | 'inPath' | 'given'>): string {
  const names = inPath.values();
  return path.replace(/\{\w+\}/g, () => segment(given[names.next().value ?? ''] ?? ''));
}
