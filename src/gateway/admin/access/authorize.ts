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
  'It is one that "petgate tokens create" made, PETGATE_ADMIN_TOKEN, or the file admin-token in the data folder.';

/** Wrong tokens that are called wrong to one address: so many at once, then one in so many seconds. */
const BURST = 10;
const PER_SECOND = 0.5;
/** Beyond it the address that began longest ago is forgotten. */
const MAX_ADDRESSES = 10_000;

/** What one request shows, and what it asks for. */
export interface Credentials {
  /** The field `Authorization`. */
  readonly header: string | undefined;
  /** The peer's address, as its socket has it; IPv6 counts by its /64. */
  readonly address: string | undefined;
  readonly access: Access;
}

/** Whose token was sent; no name for the token of the environment, which may do everything. */
export interface Caller {
  readonly name: string | null;
  readonly role: Role;
}

/** Rejects with AdminRefusal unless a token was sent that may do what is asked for. */
export type Authorize = (credentials: Credentials) => Promise<Caller>;

const ROOT: Caller = { name: null, role: 'operator' };

/**
 * 401 for a wrong token or none, 403 for one whose role is too small. 429 for a wrong one of an address that goes on
 * sending such; right ones never wait for that, wherever they come from.
 * @param root the token of the environment; it needs no store
 * @param now ms of a clock that never steps back
 * @param onWrong told where a wrong token came from, as often as each address has its 401
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
    // Hashes have one length: so the comparison leaks nothing about the token, not even its length.
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
    'The store does not respond, and it alone knows this admin token. Try again, or use the token of the ' +
      'environment (PETGATE_ADMIN_TOKEN), which needs no store.',
    { 'Retry-After': '1' },
  );
}

function tooMany(waitMs: number): AdminRefusal {
  return new AdminRefusal(
    429,
    'too_many_attempts',
    'Too many wrong tokens came from this address, and this is one more. Stop sending it: a right one is taken at ' +
      `once. ${HELP}`,
    { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
  );
}

/** Empty when there is none. Only visible ASCII can be a token: nothing else is taken for a blank, or cut off. */
function tokenIn(header: string): string {
  return /^bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1] ?? '';
}
