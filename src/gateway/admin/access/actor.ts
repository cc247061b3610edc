import type { IncomingMessage } from 'node:http';
import type { Caller } from './authorize.js';
import { AdminRefusal } from '../../actions/answer.js';

const ROOT = 'admin-api';
const LENGTH = 64;

/** Returns who acts, for the history: `name (X-Petgate-Actor)`; for the root token only X-Petgate-Actor. */
export function readActor(req: IncomingMessage, caller: Caller | null): string {
  const claimed = readClaim(req.headers['x-petgate-actor']);
  const name = caller?.name ?? null;
  if (name === null) return claimed ?? ROOT;
  return claimed === undefined ? name : `${name} (${claimed})`;
}

function readClaim(claimed: string | string[] | undefined): string | undefined {
  if (claimed === undefined) return undefined;
  if (
    typeof claimed === 'string' &&
    claimed.length <= LENGTH &&
    /^[!-~](?:[ -~]*[!-~])?$/.test(claimed) &&
    !/pt[ag]_/.test(claimed)
  )
    return claimed;
  throw new AdminRefusal(
    400,
    'invalid_actor',
    `X-Petgate-Actor must be a name of 1 to ${LENGTH} visible ASCII characters.`,
  );
}
