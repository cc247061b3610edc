import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../admin/access/authorize.js';
import type { AdminCore } from '../../admin/mount.js';
import { parseAdminToken } from '../../accounts/token.js';
import { cookiesIn, setCookie } from '../../pages/cookie.js';
import { Sessions, type Session } from '../../pages/session.js';

const COOKIE = { name: 'petgate-console', path: '/console' };

export interface SignedIn {
  readonly caller: Caller;
  readonly formToken: string;
  readonly renewed: Session['renewed'];
}

/** Sessions of visitors. Each request looks up the session's token in the store, so revoking it ends the session. */
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
   * Begins a session and returns the value of its cookie. Rejects with AdminRefusal as the admin API does, with which
   * it shares the limit of wrong tokens.
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

  /** Returns null if nobody is signed in. */
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

  /** Changing the root token ends its sessions. */
  #root(secretHash: string): Caller | undefined {
    const isRoot = timingSafeEqual(Buffer.from(secretHash), Buffer.from(this.#rootHash));
    return isRoot ? { name: null, role: 'operator' } : undefined;
  }
}

/** Returns the value of Set-Cookie; an empty `value` deletes the cookie. */
export function sessionCookie(request: IncomingMessage, value: string): string {
  return setCookie({ ...COOKIE, secure: isSecure(request) }, value);
}

/** Returns whether the browser uses TLS, to this gateway or to a proxy. A client that lies locks out only itself. */
export function isSecure({ socket, headers }: IncomingMessage): boolean {
  return 'encrypted' in socket || headers['x-forwarded-proto'] === 'https';
}
