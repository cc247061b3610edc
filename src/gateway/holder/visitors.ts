import type { Admission } from '../admission/batch.js';
import type { Subject } from '../admission/port.js';
import type { StandingVerdict } from '../admission/verdict.js';
import { EVERY_OPERATION } from '../admission/windows.js';
import { parseToken } from '../accounts/token.js';
import type { Exchange } from '../exchange.js';
import { isRefusal, REFUSALS, type Refusal } from '../refusal.js';
import { cookiesIn, setCookie } from '../pages/cookie.js';
import { Sessions, type SessionStore } from '../pages/session.js';
import { valuesOf, type Way } from './way.js';

const COOKIE = 'petgate-account';

/** Somebody who proved to hold a key, and where that key stands at this moment. */
export interface Visitor {
  readonly keyId: string;
  readonly secretHash: string;
  readonly verdict: StandingVerdict;
  readonly formToken: string;
  /** The cookie as it is from now on, where it has to be set anew. */
  readonly renewed: string | null;
}

interface SignedIn {
  readonly verdict: StandingVerdict;
  readonly cookie: string;
}

interface VisitorParts {
  readonly admission: Admission;
  readonly sessionSecret: SessionStore;
  readonly environment: string;
  readonly acceptImported: boolean;
  /** Unix ms. */
  readonly now: () => number;
}

/**
 * Who holds which key. The store is asked of the key for each page, at no cost, so that a revocation, a ban or another
 * plan holds for the next one. What a session holds, the hash of a secret, opens nothing but these pages. All reject
 * with StoreUnavailable.
 */
export class Visitors {
  readonly #parts: VisitorParts;
  readonly #sessions: Sessions;
  /** Where the pages are; the browser sends the cookie there alone. */
  readonly #path: string;

  constructor(path: string, parts: VisitorParts) {
    this.#path = path;
    this.#parts = parts;
    this.#sessions = new Sessions('account', parts.sessionSecret);
  }

  /** Null where nobody is signed in, or whose key is no more valid. */
  async resume({ received }: Exchange, way: Way): Promise<Visitor | Refusal | null> {
    const cookies = cookiesIn(valuesOf(received, 'cookie'), { name: COOKIE, secure: way === 'tls' });
    const session = await this.#sessions.resumeOnly(cookies, this.#parts.now());
    if (session === null) return null;
    const { key: keyId = '', hash: secretHash = '' } = session.data;
    const verdict = await this.#peek({ kind: 'key', id: keyId, secretHash });
    if (verdict === null || isRefusal(verdict)) return verdict;
    return { keyId, secretHash, verdict, formToken: session.formToken, renewed: session.renewed };
  }

  /** Where the key stands that was entered, and the cookie of its new session; null where it is none that is valid. */
  async signIn(key: string): Promise<SignedIn | Refusal | null> {
    const { environment, acceptImported } = this.#parts;
    const parsed = parseToken(key, environment, acceptImported);
    if (parsed === null) return null;
    const { id, secretHash } = parsed;
    const verdict = await this.#peek({ kind: 'key', id, secretHash });
    if (verdict === null || isRefusal(verdict)) return verdict;
    return { verdict, cookie: await this.begin(id, secretHash) };
  }

  /** The cookie of a new session. */
  begin(keyId: string, secretHash: string): Promise<string> {
    return this.#sessions.begin({ key: keyId, hash: secretHash }, this.#parts.now());
  }

  /** Ends the session, also for whoever has copied its cookie. Rejects with ChangeUncertain too. */
  signOut(visitor: Visitor): Promise<void> {
    return this.#sessions.end(visitor);
  }

  /** Takes a token from the address of whoever entered a wrong key, as any request without a valid key does. */
  async charge({ addressBucket: address }: Exchange, operation: string): Promise<StandingVerdict | null> {
    const request = { subject: { kind: 'address', address }, operation, scope: null, cost: 1 } as const;
    const verdict = await this.#parts.admission.admit(request);
    return verdict.outcome === 'unknown_key' ? null : verdict;
  }

  /** The field Set-Cookie; an empty `value` takes the cookie away. */
  cookie(value: string, way: Way): string {
    return setCookie({ name: COOKIE, path: this.#path, secure: way === 'tls' }, value);
  }

  async #peek(subject: Subject): Promise<StandingVerdict | Refusal | null> {
    const verdict = await this.#parts.admission.admit({ subject, operation: EVERY_OPERATION, scope: null, cost: 0 });
    if (verdict.outcome !== 'unknown_key') return verdict;
    return verdict.reason === 'no_plan' ? REFUSALS.plan_unavailable : null;
  }
}
