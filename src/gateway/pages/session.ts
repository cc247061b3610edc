import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SessionSecret } from '../store/records/session-secret.js';
import { decrypt, encrypt } from './cipher.js';

/** Whose pages: what is sealed for one opens at no other. */
export type Purpose = 'account' | 'console';

/** What a session is about: a few short texts. */
type SessionData = Readonly<Record<string, string>>;

interface Session {
  readonly data: SessionData;
  /** The cookie as it is from now on, where it has to be set anew; null while the one that came is good enough. */
  readonly renewed: string | null;
  /** What each form of its pages holds, in a hidden field: no other site knows it. */
  readonly formToken: string;
}

interface Sealed {
  /** Names the session, also after it was renewed. */
  readonly id: string;
  readonly startMs: number;
  readonly usedMs: number;
  readonly data: SessionData;
}

export const SESSION_MS = 12 * 3_600_000;
export const IDLE_MS = 30 * 60_000;
/** A use is noted in the cookie when the one noted is so long ago. */
const NOTED_EVERY_MS = 60_000;
/** How far clocks of gateways may be apart. */
const SKEW_MS = 60_000;

/** What of the store sessions need. */
export type SessionStore = Pick<SessionSecret, 'read' | 'end' | 'hasEnded'>;

/**
 * Sessions of pages, which the browser's own cookie keeps: sealed, so that nobody reads or changes it. The store knows
 * those that were ended.
 * All calls reject with StoreUnavailable where the store does not give the secret.
 */
export class Sessions {
  readonly #purpose: Purpose;
  readonly #secret: SessionStore;

  constructor(purpose: Purpose, secret: SessionStore) {
    this.#purpose = purpose;
    this.#secret = secret;
  }

  /** A new session: the value of its cookie. */
  async begin(data: SessionData, nowMs: number): Promise<string> {
    const id = randomBytes(12).toString('base64url');
    return this.#encrypt({ id, startMs: nowMs, usedMs: nowMs, data }, await this.#secret.read());
  }

  /**
   * The one session that these cookies hold, whatever else is among them; null where none of them opens one, or two do:
   * one of these is somebody else's.
   */
  async resumeOnly(cookies: readonly string[], nowMs: number): Promise<Session | null> {
    const found = await Promise.all(cookies.map((cookie) => this.resume(cookie, nowMs)));
    const open = found.filter((session) => session !== null);
    return new Set(open.map(({ formToken }) => formToken)).size === 1 ? open[0]! : null;
  }

  /** The session that a cookie holds; null where it holds none, or one that is over. */
  async resume(cookie: string, nowMs: number): Promise<Session | null> {
    const secret = await this.#secret.read();
    const text = decrypt(this.#purpose, cookie, secret);
    if (text === null) return null;
    const sealed = JSON.parse(text) as Sealed;
    const { id, startMs, usedMs, data } = sealed;
    if (nowMs >= startMs + SESSION_MS || nowMs >= usedMs + IDLE_MS || nowMs < usedMs - SKEW_MS) return null;
    const renewed = nowMs < usedMs + NOTED_EVERY_MS ? null : this.#encrypt({ ...sealed, usedMs: nowMs }, secret);
    const formToken = this.#formToken(id, secret);
    return (await this.#secret.hasEnded(formToken)) ? null : { data, renewed, formToken };
  }

  /** Ends a session for all gateways, also for whoever has copied its cookie: until no copy could open it any more. */
  end({ formToken }: Pick<Session, 'formToken'>): Promise<void> {
    return this.#secret.end(formToken, IDLE_MS + 2 * SKEW_MS);
  }

  #encrypt(sealed: Sealed, secret: Buffer): string {
    return encrypt(this.#purpose, JSON.stringify(sealed), secret);
  }

  #formToken(id: string, secret: Buffer): string {
    return createHmac('sha256', secret).update(`form of ${this.#purpose}\n${id}`).digest('base64url');
  }
}

/** Whether a form that was sent is one of the session's own. */
export function isOwnForm({ formToken }: Pick<Session, 'formToken'>, sent: string | null): boolean {
  if (sent === null) return false;
  const [own, given] = [Buffer.from(formToken), Buffer.from(sent)];
  return own.length === given.length && timingSafeEqual(own, given);
}
