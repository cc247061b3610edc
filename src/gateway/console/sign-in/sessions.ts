import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../admin/access/authorize.js';
import type { AdminCore } from '../../admin/mount.js';
import { parseAdminToken } from '../../accounts/token.js';
import { cookiesIn, setCookie } from '../../pages/cookie.js';
import { Sessions } from '../../pages/session.js';

/** Where the cookie is good. */
const COOKIE = { name: 'petgate-console', path: '/console' };

export interface SignedIn {
  readonly caller: Caller;
  readonly formToken: string;
  /** The new value of the cookie if it must be set again. */
  readonly renewed: string | null;
}

/** Who is signed in. Each page asks the store for the token of its session: one that is revoked opens nothing. */
export class SignIn {
  readonly #core: AdminCore;
  readonly #sessions: Sessions;
  readonly #rootHash: string;

  constructor(core: AdminCore) {
    this.#core = core;
    this.#sessions = new Sessions('console', core.parts.engine.sessionSecret);
    this.#rootHash = hash('sha256', core.parts.token, 'base64url');
  }

  /**
   * The cookie's value of a new session. Rejects with AdminRefusal for a token that isn't valid, as the admin API does,
   * and holds wrong ones to the same limit.
   */
  async begin(token: string, address: string | undefined, nowMs: number): Promise<string> {
    const header = `Bearer ${token}`;
    const caller = await this.#core.authorize({ header, address, access: 'any' });
    const { id, secretHash } = (caller.name === null ? null : parseAdminToken(token)) ?? {
      id: '',
      secretHash: this.#rootHash,
    };
    return this.#sessions.begin({ token: id, hash: secretHash }, nowMs);
  }

  /** Null where nobody is signed in. */
  async resume(request: IncomingMessage, nowMs: number): Promise<SignedIn | null> {
    const cookies = cookiesIn(request.headersDistinct['cookie'] ?? [], { ...COOKIE, secure: isSecure(request) });
    const session = await this.#sessions.resumeOnly(cookies, nowMs);
    if (session === null) return null;
    const { token = '', hash: secretHash = '' } = session.data;
    const caller = token === '' ? this.#root(secretHash) : await this.#core.tokens.holderOfHash(token, secretHash);
    return caller === undefined ? null : { caller, formToken: session.formToken, renewed: session.renewed };
  }

  /** Ends a session, including copies of its cookie. */
  end(formToken: string): Promise<void> {
    return this.#sessions.end({ formToken });
  }

  /** Another token of the environment ends the sessions of the one before. */
  #root(secretHash: string): Caller | undefined {
    const isRoot = timingSafeEqual(Buffer.from(secretHash), Buffer.from(this.#rootHash));
    return isRoot ? { name: null, role: 'operator' } : undefined;
  }
}

/** The field Set-Cookie; an empty `value` takes the cookie away. */
export function sessionCookie(request: IncomingMessage, value: string): string {
  return setCookie({ ...COOKIE, secure: isSecure(request) }, value);
}

/** Whether the way to the browser is TLS, here or at a proxy in front. Saying so wrongly locks out nobody else. */
export function isSecure({ socket, headers }: IncomingMessage): boolean {
  return 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
}
