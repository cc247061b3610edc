import type { Command } from 'commander';
import type { Connect } from '../client.js';
import { cell } from '../output.js';
import { exportCommand, importCommand } from '../transfer/store.js';
import { group, type Rows } from './command.js';

const ROWS: Rows = {
  accept: [
    'accept Redis as it is, although it has lost data, is another one, or belongs to another environment',
    'POST store/accept',
    {
      text: ({ id, accepted }) =>
        accepted === true
          ? `The store ${cell(id)} is accepted as it is.`
          : `The store ${cell(id)} has not changed: there was nothing to accept.`,
    },
    'environment',
    {
      help:
        '\nAll gateways that knew the store before follow. Keys, bans and counts that it does not have are gone: ' +
        'where there is a copy, bring that back instead. In a store that was restored to an older state, gateways ' +
        'first write back what they know better: keys that were revoked, rotated, disabled or banned since.',
    },
  ],
};

export function storeCommand(connect: Connect): Command {
  const store = group(connect, 'store', 'back up, restore and move the store', ROWS);
  return store.addCommand(exportCommand(connect)).addCommand(importCommand(connect));
}
