import type { Command } from 'commander';
import type { Connect } from '../client.js';
import { group, type Rows } from './command.js';
import { done } from './show.js';

const ROWS: Rows = {
  end: [
    'end all sessions of the console and of account pages, on every gateway',
    'DELETE sessions',
    done('All sessions are over: everybody has to sign in again.'),
  ],
};

export function sessionsCommand(connect: Connect): Command {
  return group(connect, 'sessions', 'end what people signed in to', ROWS, HELP);
}

const HELP = `
When a copy of the store may be in wrong hands: who has it could make sessions.
Keys and admin tokens stay as they are; one of which a copy went astray is rotated or revoked.`;
