import type { Admission } from '../admission/batch.js';
import type { Subject } from '../admission/port.js';
import type { StandingVerdict } from '../admission/verdict.js';
import { EVERY_OPERATION } from '../admission/windows.js';
import { parseToken } from '../accounts/token.js';
import type { Exchange } from '../exchange.js';
import { isRefusal, REFUSALS, type Refusal } from '../refusal.js';
import { cookiesIn, setCookie } from '../pages/cookie.js';
import { Sessions, type Session, type SessionStore } from '../pages/session.js';
import { valuesOf, type Way } from './way.js';

const COOKIE = 'petgate-account';

/** Someone who has proved to hold a key, with the key's current verdict. */
export interface Visitor {
  readonly keyId: string;
  readonly secretHash: string;
  readonly verdict: StandingVerdict;
  readonly formToken: string;
  readonly renewed: Session['renewed'];
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
 * Tracks who holds which key. Each page reads the key from the store, at no cost, so that a revocation, a ban or a new
 * plan applies to the next page. A session contains only the hash of a secret, which is of no use outside these pages.
 * All methods reject with StoreUnavailable.
 */
export class Visitors {
  readonly #parts: VisitorParts;
  readonly #sessions: Sessions;
  /** Path of the pages: the browser sends the cookie nowhere else. */
  readonly #path: string;

  constructor(path: string, parts: VisitorParts) {
    this.#path = path;
    this.#parts = parts;
    this.#sessions = new Sessions('account', parts.sessionSecret);
  }

  /** Returns the signed-in visitor; null if there is none, or the key is no longer valid. */
  async resume({ received }: Exchange, way: Way): Promise<Visitor | Refusal | null> {
    const cookies = cookiesIn(valuesOf(received, 'cookie'), { name: COOKIE, secure: way === 'tls' });
    const session = await this.#sessions.resumeOnly(cookies, this.#parts.now());
    if (session === null) return null;
    const { key: keyId = '', hash: secretHash = '' } = session.data;
    const verdict = await this.#peek({ kind: 'key', id: keyId, secretHash });
    if (verdict === null || isRefusal(verdict)) return verdict;
    return { keyId, secretHash, verdict, formToken: session.formToken, renewed: session.renewed };
  }

  /** Returns the verdict on the entered key and the cookie of its new session; null if the key is not valid. */
  async signIn(key: string): Promise<SignedIn | Refusal | null> {
    const { environment, acceptImported } = this.#parts;
    const parsed = parseToken(key, environment, acceptImported);
    if (parsed === null) return null;
    const { id, secretHash } = parsed;
    const verdict = await this.#peek({ kind: 'key', id, secretHash });
    if (verdict === null || isRefusal(verdict)) return verdict;
    return { verdict, cookie: await this.begin(id, secretHash) };
  }

  /** Begins a session and returns the value of its cookie. */
  begin(keyId: string, secretHash: string): Promise<string> {
    return this.#sessions.begin({ key: keyId, hash: secretHash }, this.#parts.now());
  }

  /** Ends the session, including copies of its cookie. May also reject with ChangeUncertain. */
  signOut(visitor: Visitor): Promise<void> {
    return this.#sessions.end(visitor);
  }

  /** Charges one unit to the address that entered a wrong key, as for any request without a valid key. */
  async charge({ addressBucket: address }: Exchange, operation: string): Promise<StandingVerdict | null> {
    const request = { subject: { kind: 'address', address }, operation, scope: null, cost: 1 } as const;
    const verdict = await this.#parts.admission.admit(request);
    return verdict.outcome === 'unknown_key' ? null : verdict;
  }

  /** Returns the value of Set-Cookie; an empty `value` deletes the cookie. */
  cookie(value: string, way: Way): string {
    return setCookie({ name: COOKIE, path: this.#path, secure: way === 'tls' }, value);
  }

  async #peek(subject: Subject): Promise<StandingVerdict | Refusal | null> {
    const verdict = await this.#parts.admission.admit({ subject, operation: EVERY_OPERATION, scope: null, cost: 0 });
    if (verdict.outcome !== 'unknown_key') return verdict;
    return verdict.reason === 'no_plan' ? REFUSALS.plan_unavailable : null;
  }
}
