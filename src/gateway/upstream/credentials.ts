import type { UpstreamSettings } from '../config/settings.js';
import { fieldKey } from '../edge/fields.js';

/** What an upstream knows the gateway by. */
export interface Credentials {
  /** Name and value of a field; null: none of the gateway's. */
  readonly field: readonly [name: string, value: string] | null;
  /** A `fieldKey`: what clients say by this name is not passed on; null: nothing but Authorization, which never is. */
  readonly replaces: string | null;
  /** Whether the client's Authorization is passed on. */
  readonly passesClients: boolean;
  /** What may stand in no log. */
  readonly secrets: readonly string[];
}

const NONE: Credentials = { field: null, replaces: null, passesClients: false, secrets: [] };

export function credentialsOf({ authorization }: UpstreamSettings, internalToken: string): Credentials {
  if (authorization === 'none') return NONE;
  if (authorization === 'client') return { ...NONE, passesClients: true };
  if (authorization === 'internal')
    return { ...NONE, field: ['Authorization', `Bearer ${internalToken}`], secrets: [internalToken] };
  const { header, credential, secrets } = authorization;
  const name = fieldKey(header);
  return { ...NONE, field: [header, credential], replaces: name === 'authorization' ? null : name, secrets };
}
