import { CommandError } from '../terminal/command-error.js';

/** Encodes an ID for a path. Throws CommandError for a whole key or token, without repeating the secret. */
export function segment(id: string): string {
  refuseSecret(id);
  return encodeURIComponent(id);
}

export function refuseSecret(text: string): void {
  if (text.startsWith('ptg_'))
    throw new CommandError(
      "This is a whole key. Give its id, the 12 characters after ptg_<environment>_ (14 for a customer's key). " +
        'Rotate the key: the shell history and other users of this machine can see the command line.',
      2,
    );
  if (text.startsWith('pta_'))
    throw new CommandError(
      'This is a whole admin token. Give its id, the 12 characters after pta_. Revoke the token: the shell history ' +
        'and other users of this machine can see the command line.',
      2,
    );
}
