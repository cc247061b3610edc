import type { Command } from 'commander';
import { listIn, type Connect } from '../client.js';
import { CommandError } from '../command-error.js';
import { group, type Rows } from './command.js';
import { done, pages, record, type Values } from './show.js';

const COLUMNS = ['id', 'type', 'time', 'attempts', 'failure'];
const NONE = { waiting: 'No event waits.', scheduled: 'No event is scheduled.', dead: 'No dead events.' };
const OFF =
  'Events are off: set PETGATE_EVENTS_URL and PETGATE_EVENTS_SECRET, and start the gateway again. There are none.';

const ROWS: Rows = {
  list: [
    'list the events that wait for delivery, the oldest first',
    'GET events',
    pages('events', COLUMNS, ({ enabled }, values) => (enabled === false ? OFF : NONE[stateIn(values)])),
    'scheduled dead',
    { send: (_, values) => ({ state: stateIn(values) }) },
  ],
  'show <id>': ['show one undelivered event', 'GET events/{id}', record()],
  'redeliver [id]': [
    'have an event delivered at once, under the id it has',
    'POST events/{id}/redeliver',
    done((_, { ids }) => dueOf(ids as readonly string[])),
    '',
    {
      bulk: {
        flag: '--dead',
        about: 'all that are not tried again, instead of one',
        either: 'of an event, or --dead for all dead ones',
        ids: async (client) => {
          const dead = await client.askAll('/admin/v1/events', new URLSearchParams({ state: 'dead' }), 'events');
          return listIn(dead, 'events').map(({ id }) => String(id));
        },
      },
    },
  ],
};

export function eventsCommand(connect: Connect): Command {
  const about = 'see events that are not delivered, and have them delivered again';
  return group(connect, 'events', about, ROWS, EXAMPLES);
}

function dueOf(ids: readonly string[]): string {
  return ids.length === 1 ? `Event ${ids[0]!} is sent now.` : `${ids.length} events are sent now.`;
}

function stateIn({ scheduled, dead }: Values): keyof typeof NONE {
  if (scheduled !== undefined && dead !== undefined) throw new CommandError('Give --scheduled or --dead, not both.', 2);
  return dead !== undefined ? 'dead' : scheduled !== undefined ? 'scheduled' : 'waiting';
}

const EXAMPLES = `
Examples:
  petgate events list
  petgate events list --scheduled
  petgate events list --dead
  petgate events redeliver 3hT9sQ0aZk1B-x0FvQ7mJc2Ld
  petgate events redeliver --dead`;
