import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Command } from 'commander';
import { CommandError } from '../../terminal/command-error.js';
import type { Connect } from '../../admin/admin-client.js';
import { say, sayJson } from '../../terminal/output.js';
import { progressOn } from '../../terminal/progress.js';
import { isDay } from '../../../shared/utc-day.js';
import { originOf } from './event.js';
import { Pusher, type PushParts } from './pusher.js';

interface PushOptions extends Pick<PushParts, 'to' | 'from' | 'toDay' | 'by' | 'source' | 'batch' | 'amounts'> {
  readonly retryFor: string;
  readonly state?: string;
  readonly json?: true;
}

const MAX_BATCH = 10_000;
const DIMENSIONS = ['key', 'day', 'plan', 'operation'];

export function pushCommand(connect: Connect): Command {
  return new Command('push')
    .description('push usage to a billing system as CloudEvents')
    .requiredOption('--to <url>', 'where to send it; the bearer token for it comes from PETGATE_PUSH_TOKEN', urlOf)
    .option('--from <day>', 'first UTC day (default: where the last push ended, or the first of last month)', (text) =>
      checkedDay(text, '--from'),
    )
    .option('--to-day <day>', 'last UTC day (default: the last final day)', (text) => checkedDay(text, '--to-day'))
    .option('--by <dimensions>', 'plan, operation; key and day are always included', dimensionsOf, DIMENSIONS.join())
    .option('--source <uri>', 'source of the events; source and id together identify repeats', 'urn:petgate:usage')
    .option('--batch <count>', 'events per request', batchOf, 500)
    .option('--retry-for <duration>', 'how long to retry a batch, such as 30s, 10m', '10m')
    .option('--state <file>', 'file that remembers what was acknowledged (default: in the data folder)')
    .option('--amounts', 'also send what is owed for each past month, once')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ retryFor, state, json, ...options }: PushOptions) => {
      const { parseDurationMs } = await import('../../../gateway/config/schema/quantity.js');
      const retryForMs = parseDurationMs(retryFor) ?? refuse('--retry-for must be a duration such as 30s or 10m.');
      const token = process.env['PETGATE_PUSH_TOKEN'] ?? '';
      if (!/^[\x21-\x7e]*$/.test(token)) refuse('PETGATE_PUSH_TOKEN must be visible ASCII characters without spaces.');
      const stateFile = state ?? (await stateFileOf(options));
      const progress = progressOn(process.stderr);
      const client = await connect();
      const origin = await originOf(client, options.source);
      const pusher = new Pusher({ ...options, ...origin, client, token, retryForMs, stateFile, progress });
      await pusher.run().finally(() => progress.end());
      if (json === true) sayJson({ ...pusher.done, state: stateFile });
      else say(summaryOf(pusher.done));
    });
}

function summaryOf({ events, ranges, corrected, corrections, amounts }: Pusher['done']): string {
  if (ranges.length === 0 && events === 0) return 'Nothing new: all final days were already acknowledged.';
  const pushed = [
    ...ranges.map(({ from, to }) => `${from} to ${to}`),
    ...corrected.map((day) => `late counts of ${day}`),
    ...amounts.map((month) => `amounts of ${month}`),
    ...(corrections === 0 ? [] : [`${corrections} corrections`]),
  ];
  return `${events} events acknowledged${pushed.length === 0 ? '' : `, ${pushed.join(', then ')}`}.`;
}

function refuse(message: string): never {
  throw new CommandError(message, 2);
}

function dimensionsOf(text: string): string {
  const asked = text.split(',');
  const foreign = asked.find((name) => !DIMENSIONS.includes(name));
  if (foreign !== undefined) refuse(`--by knows plan and operation (key and day are always there), not "${foreign}".`);
  return DIMENSIONS.filter((name) => ['key', 'day', ...asked].includes(name)).join();
}

function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return refuse('--to must be an address such as https://meter.example.com/events.');
  if (url.username !== '' || url.password !== '')
    return refuse(
      '--to must not contain a user or password: everyone on this machine could read it. Set PETGATE_PUSH_TOKEN.',
    );
  return url.href;
}

function batchOf(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MAX_BATCH ? count : refuse(`--batch must be a whole number from 1 to ${MAX_BATCH}.`);
}

function checkedDay(text: string, option: string): string {
  if (!isDay(text)) refuse(`${option} must be a calendar day such as 2026-11-21.`);
  return text;
}

/** Each receiver, with dimensions and source, has a state of its own. */
async function stateFileOf({ to, by, source }: Omit<PushOptions, 'retryFor'>): Promise<string> {
  const { loadSettings } = await import('../../../gateway/config/load.js');
  const name = createHash('sha256').update([to, 'day', by, source].join('\n')).digest('hex').slice(0, 12);
  return join(loadSettings(process.env).data, `usage-push-${name}.json`);
}

const EXAMPLES = `
If a push is interrupted, run the same command again: it continues. Each final day is sent once, and the receiver adds
up the events; the same figures always have the same (source, id), so repeats are harmless. The subject of an event is
the reference of the paying customer, or its id; for a key without a customer, the key's id. If a day became final
without a gateway, its late counts are sent as separate events (their ids end in &rev=2 and so on); so is each
correction.
Examples:
  PETGATE_PUSH_TOKEN=… petgate usage push --to https://meter.example.com/events
  petgate usage push --to https://meter.example.com/events --from 2026-10-01 --to-day 2026-10-31
  petgate usage push --to https://meter.example.com/plans --by plan
  petgate usage push --to https://bills.example.com/events --amounts`;
