import { hash, timingSafeEqual } from 'node:crypto';
import type { Role } from '../../store/records/admin-token.js';
import { StoreUnavailable } from '../../admission/port.js';
import { bucketOf, createAddressReader } from '../../edge/client-address.js';
import { createAllowance } from '../../usage/allowance.js';
import { AdminRefusal } from '../../actions/answer.js';
import { rolesFor, type Access } from '../../actions/access/roles.js';
import type { AdminTokens } from '../../actions/access/tokens.js';

const BEARER = 'Bearer realm="petgate-admin"';
const HELP =
  'Create one with "petgate tokens create", or use PETGATE_ADMIN_TOKEN or the file admin-token in the data folder.';

/** Wrong tokens per address that get a 401: 10 in a burst, then one every 2 seconds. All others get a 429. */
const BURST = 10;
const PER_SECOND = 0.5;
/** With more addresses, the oldest one is forgotten. */
const MAX_ADDRESSES = 10_000;

/** The credentials of a request, and the access it needs. */
export interface Credentials {
  /** The field `Authorization`. */
  readonly header: string | undefined;
  /** The peer's address from the socket; IPv6 addresses count by their /64. */
  readonly address: string | undefined;
  readonly access: Access;
}

/** The holder of the token. No name: the token of the environment, which may do everything. */
export interface Caller {
  readonly name: string | null;
  readonly role: Role;
}

/** Returns the caller. Rejects with AdminRefusal unless its token allows the access. */
export type Authorize = (credentials: Credentials) => Promise<Caller>;

const ROOT: Caller = { name: null, role: 'operator' };

/**
 * Creates the check: 401 for a missing or wrong token, 403 for an insufficient role, 429 for a wrong token from an
 * address that keeps sending them. Valid tokens are never limited.
 * @param root the token of the environment; it needs no store
 * @param now ms of a clock that never steps back
 * @param onWrong called with the address at each 401 for a wrong token
 */
export function createAuthorize(
  root: string,
  tokens: Pick<AdminTokens, 'holderOf'>,
  now: () => number,
  onWrong: (address: string) => void = () => undefined,
): Authorize {
  const rootHash = hashOf(root);
  const peers = createAddressReader([]);
  const attempts = createAllowance(PER_SECOND, BURST, MAX_ADDRESSES);
  return async ({ header, address, access }) => {
    if (header === undefined) throw unauthorized('missing_admin_token');
    const sent = tokenIn(header);
    // Hashes have equal lengths, so the comparison leaks nothing about the token, not even its length.
    if (sent !== '' && timingSafeEqual(hashOf(sent), rootHash)) return ROOT;
    const caller = await tokens.holderOf(sent).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? storeUnavailable() : error;
    });
    if (caller === undefined) {
      const from = bucketOf(peers.read(address, null));
      const waitMs = attempts.take(from, now());
      if (waitMs > 0) throw tooMany(waitMs);
      onWrong(from);
      throw unauthorized('invalid_admin_token');
    }
    if (!rolesFor(access).includes(caller.role)) throw insufficient(caller.role, access);
    return caller;
  };
}

function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function unauthorized(code: 'missing_admin_token' | 'invalid_admin_token'): AdminRefusal {
  const message = `Send an admin token: "Authorization: Bearer <token>". ${HELP}`;
  const challenge = code === 'missing_admin_token' ? BEARER : `${BEARER}, error="invalid_token"`;
  return new AdminRefusal(401, code, message, { 'WWW-Authenticate': challenge });
}

const OR = new Intl.ListFormat('en', { type: 'disjunction' });

function insufficient(role: Role, access: Access): AdminRefusal {
  const message =
    `This needs an admin token with the role ${OR.format(rolesFor(access))}, and this one has the role ` +
    `${role}. Ask an operator for another ("petgate tokens create").`;
  return new AdminRefusal(403, 'insufficient_role', message);
}

function storeUnavailable(): AdminRefusal {
  return new AdminRefusal(
    503,
    'store_unavailable',
    'The store does not respond, and only it knows this admin token. Try again, or use the token of the ' +
      'environment (PETGATE_ADMIN_TOKEN), which needs no store.',
    { 'Retry-After': '1' },
  );
}

function tooMany(waitMs: number): AdminRefusal {
  return new AdminRefusal(
    429,
    'too_many_attempts',
    'Too many wrong tokens came from this address, and this is another one. Stop sending it: a valid one is ' +
      `accepted immediately. ${HELP}`,
    { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
  );
}

/** Returns the token; empty if there is none. Only visible ASCII is valid: no other characters are trimmed. */
function tokenIn(header: string): string {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1] ?? '';
}
