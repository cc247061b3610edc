import type { Command } from 'commander';
import type { Connect } from '../client.js';
import { cell } from '../output.js';
import { group } from './command.js';
import type { Rows } from './command.js';

const ROWS: Rows = {
  accept: [
    'accept Redis as it is, though it has lost its data or is another one',
    'POST store/accept',
    {
      text: ({ id, accepted }) =>
        accepted === true
          ? `The store ${cell(id)} is accepted as it is.`
          : `The store ${cell(id)} has not changed: there was nothing to accept.`,
    },
    '',
    {
      help:
        '\nAll gateways that knew the store before follow. Keys, bans and counts that it does not have are gone: ' +
        'where there is a copy, bring that back instead.',
    },
  ],
};

export function storeCommand(connect: Connect): Command {
  return group(connect, 'store', 'accept a store that lost its data or was replaced', ROWS);
}
