import type { UpstreamSettings } from '../config/schema/upstream.js';
import { fieldKey } from '../edge/fields.js';

/** The gateway's credentials at an upstream. */
export interface Credentials {
  /** Name and value of a field; null if the gateway adds none. */
  readonly field: readonly [name: string, value: string] | null;
  /** A `fieldKey`: clients' fields of this name are not forwarded. Null: only Authorization, which never is. */
  readonly replaces: string | null;
  /** Whether the client's Authorization is forwarded. */
  readonly passesClients: boolean;
  /** Values that must not appear in logs. */
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
