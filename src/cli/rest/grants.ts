import type { Json } from '../client.js';
import { CommandError } from '../command-error.js';
import type { Rows } from './command.js';
import { done, list, rowsOf } from './show.js';

const COLUMNS = [['grant', ({ id }: Json) => String(id)], 'window', 'units', 'until', 'by', 'note'] as const;

/** `grant`, `grants` and `withdraw`, of keys and of customers alike. */
export function grants(collection: 'keys' | 'customers', whose: string): Rows {
  return {
    'grant <id>': [
      `give ${whose} more of one window for a while, on top of its limit`,
      `POST ${collection}/{id}/grants`,
      { text: (made) => rowsOf(COLUMNS, [made]) },
      'minute day month until! note',
      { send: ({ limits, ...fields }) => ({ ...windowIn(limits as Json | undefined), ...fields }) },
    ],
    'grants <id>': [
      `list the grants of ${whose} that are in force`,
      `GET ${collection}/{id}/grants`,
      list('grants', COLUMNS, 'No grants in force.'),
    ],
    'withdraw <id> <grant>': [
      `end a grant of ${whose} now, by its number`,
      `DELETE ${collection}/{id}/grants/{grant}`,
      done('Grant {grant} has ended.'),
    ],
  };
}

/** The one window that was given. */
function windowIn(limits: Json = {}): Json {
  const [only, ...others] = Object.entries(limits);
  if (only === undefined || others.length > 0)
    throw new CommandError(
      'Give one of --minute, --day and --month: a grant is of one window, but there may be several.',
      2,
    );
  return { window: only[0], units: only[1] };
}
