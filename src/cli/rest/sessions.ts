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
  return group(connect, 'sessions', 'end the sessions of people who signed in', ROWS, HELP);
}

const HELP = `
Use it when somebody may have a copy of the store, who could then create sessions.
Keys and admin tokens keep working; rotate or revoke one that leaked.`;
