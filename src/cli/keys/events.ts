import { Command } from 'commander';
import type { AdminClient, Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, keyValues, say, sayJson, table } from '../output.js';
import { pathOf } from './fields.js';

const NONE = { waiting: 'No event waits.', scheduled: 'No event is scheduled.', dead: 'No dead events.' };
const OFF =
  'Events are off: set PETGATE_EVENTS_URL and PETGATE_EVENTS_SECRET, and start the gateway again. There are none.';
const COLUMNS = ['id', 'type', 'time', 'attempts', 'failure'];

export function eventsCommand(connect: Connect): Command {
  const events = new Command('events')
    .description('see events that are not delivered, and have them delivered again')
    .addHelpText('after', EXAMPLES);
  events
    .command('list')
    .description('list the events that wait for delivery, the oldest first')
    .option('--scheduled', 'those that are told when they happen: keys that end')
    .option('--dead', 'those that nobody tries any more')
    .option('--json', 'print JSON')
    .action(async ({ scheduled, dead, json }: { scheduled?: true; dead?: true; json?: true }) => {
      if (scheduled === true && dead === true) throw new CommandError('Give --scheduled or --dead, not both.', 2);
      const state = dead === true ? 'dead' : scheduled === true ? 'scheduled' : 'waiting';
      const client = await connect();
      const found = await listed(client, state);
      if (json === true) sayJson({ events: found });
      else if (found.length === 0) say((await isOn(client)) ? NONE[state] : OFF);
      else say(table(COLUMNS, found.map(rowOf)));
    });
  events
    .command('show <id>')
    .description('show one event that is not delivered')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) =>
      showEvent(await (await connect()).ask('GET', pathOf(id, 'events')), json),
    );
  events
    .command('redeliver [id]')
    .description('have an event delivered at once, under the id it has')
    .option('--dead', 'all that nobody tries any more, instead of one')
    .action(async (id: string | undefined, { dead }: { dead?: true }) => {
      if ((id === undefined) === (dead === undefined))
        throw new CommandError('Give the id of an event, or --dead for all dead ones.', 2);
      const client = await connect();
      const ids = id === undefined ? (await listed(client, 'dead')).map((event) => String(event['id'])) : [id];
      for (const each of ids) await client.ask('POST', `${pathOf(each, 'events')}/redeliver`);
      say(ids.length === 1 ? `Event ${ids[0]!} is due.` : `${ids.length} events are due.`);
    });
  return events;
}

function listed(client: AdminClient, state: string): Promise<readonly Json[]> {
  return client.askAll('/admin/v1/events', new URLSearchParams({ state }), 'events');
}

async function isOn(client: AdminClient): Promise<boolean> {
  return (await client.ask('GET', '/admin/v1/events?limit=1'))['enabled'] !== false;
}

function rowOf(event: Json): readonly (string | number)[] {
  return COLUMNS.map((column) => (column === 'attempts' ? Number(event[column]) : cell(event[column])));
}

function showEvent(event: Json, json: true | undefined): void {
  if (json === true) sayJson(event);
  else say(keyValues(Object.entries(event).map(([name, value]) => [name, cell(value)])));
}

const EXAMPLES = `
Examples:
  petgate events list
  petgate events list --scheduled
  petgate events list --dead
  petgate events redeliver 3hT9sQ0aZk1B-x0FvQ7mJc2Ld
  petgate events redeliver --dead`;
