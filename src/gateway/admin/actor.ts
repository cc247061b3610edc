import type { IncomingMessage } from 'node:http';
import { AdminRefusal } from './answer.js';

const ANYBODY = 'admin-api';
const LENGTH = 64;

/** Who asks: the name in `X-Petgate-Actor`, else `admin-api`. One token opens the admin API, so it is a claim, no proof. */
export function readActor(req: IncomingMessage): string {
  const name = req.headers['x-petgate-actor'];
  if (name === undefined) return ANYBODY;
  if (
    typeof name === 'string' &&
    name.length <= LENGTH &&
    /^[!-~](?:[ -~]*[!-~])?$/.test(name) &&
    !name.includes('ptg_')
  )
    return name;
  throw new AdminRefusal(
    400,
    'invalid_actor',
    `X-Petgate-Actor must be a name of 1 to ${LENGTH} visible ASCII characters.`,
  );
}
