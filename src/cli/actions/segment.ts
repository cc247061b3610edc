import { CommandError } from '../command-error.js';

/** An ID in a path. A whole key or token is refused, unrepeated: the shell's history and `ps` have it already. */
export function segment(id: string): string {
  refuseSecret(id);
  return encodeURIComponent(id);
}

export function refuseSecret(text: string): void {
  if (text.startsWith('ptg_'))
    throw new CommandError(
      "This is a whole key. Give its id, the 12 characters after ptg_<environment>_ (14 of a customer's key); " +
        'and rotate the key, for the command line is no secret place.',
      2,
    );
  if (text.startsWith('pta_'))
    throw new CommandError(
      'This is a whole admin token. Give its id, the 12 characters after pta_; and revoke the token, for the ' +
        'command line is no secret place.',
      2,
    );
}
