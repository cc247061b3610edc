import type { Command } from 'commander';
import { listIn, type Connect, type Json } from '../client.js';
import { group, type Rows } from './command.js';
import { rowsOf } from './show.js';

const COLUMNS = ['gateway', 'host', 'seen', 'version', 'settings', 'plans', 'contract', 'differs'];

const ROWS: Rows = {
  list: [
    'list the gateways on the store, and what differs between what they run by',
    'GET gateways',
    {
      text: (answer) => {
        const self: Json = { gateway: 'this one', ...(answer['self'] as Json) };
        const others = answer['others'] === null ? [] : listIn(answer, 'others');
        const table = rowsOf(COLUMNS, [self, ...others]);
        return answer['others'] === null ? `${table}\nThe store does not say which others there are.` : table;
      },
    },
    '',
    {
      help: '\nSettings, plans and contract are short hashes, without what may differ between machines.',
    },
  ],
};

export function gatewaysCommand(connect: Connect): Command {
  return group(connect, 'gateways', 'see which gateways there are', ROWS);
}
