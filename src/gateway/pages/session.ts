import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SessionSecret } from '../store/records/session-secret.js';
import { decrypt, encrypt } from './cipher.js';

/** Which pages: a cookie encrypted for one purpose is not valid for the other. */
export type Purpose = 'account' | 'console';

/** A few short texts. */
type SessionData = Readonly<Record<string, string>>;

export interface Session {
  readonly data: SessionData;
  /** Returns the new value of the cookie if it must be set again; null if the received one is recent enough. */
  readonly renewed: () => string | null;
  /** The hidden field of each form on its pages; other sites do not know it. */
  readonly formToken: string;
}

interface Sealed {
  /** Identifies the session; renewal does not change it. */
  readonly id: string;
  readonly startMs: number;
  readonly usedMs: number;
  readonly data: SessionData;
}

/** The content of a cookie, and the secret that opened it. */
interface Opened {
  readonly sealed: Sealed;
  readonly secret: Buffer;
  readonly formToken: string;
}

export const SESSION_MS = 12 * 3_600_000;
export const IDLE_MS = 30 * 60_000;
/** The cookie is renewed if its last recorded use is at least this long ago. */
const NOTED_EVERY_MS = 60_000;
const MAX_OPENED = 200;
/** The maximum difference between the clocks of gateways. */
const SKEW_MS = 60_000;

/** The part of the store that sessions need. */
export type SessionStore = Pick<SessionSecret, 'read' | 'end' | 'hasEnded'>;

/**
 * Sessions of pages, kept in an encrypted cookie that nobody else can read or change. The store records only those that
 * were ended. All calls reject with StoreUnavailable if the store cannot provide the secret.
 */
export class Sessions {
  readonly #purpose: Purpose;
  readonly #secret: SessionStore;
  readonly #opened = new Map<string, Opened>();

  constructor(purpose: Purpose, secret: SessionStore) {
    this.#purpose = purpose;
    this.#secret = secret;
  }

  /** Begins a session and returns the value of its cookie. */
  async begin(data: SessionData, nowMs: number): Promise<string> {
    const id = randomBytes(12).toString('base64url');
    return this.#encrypt({ id, startMs: nowMs, usedMs: nowMs, data }, await this.#secret.read());
  }

  /**
   * Returns the only valid session among these cookies; ignores cookies that are not valid. Null if there is none, or
   * more than one: one of them is then somebody else's.
   */
  async resumeOnly(cookies: readonly string[], nowMs: number): Promise<Session | null> {
    const found = await Promise.all(cookies.map((cookie) => this.resume(cookie, nowMs)));
    const open = found.filter((session) => session !== null);
    return new Set(open.map(({ formToken }) => formToken)).size === 1 ? open[0]! : null;
  }

  /** Returns the session of a cookie; null if it is not valid, has expired or was ended. */
  async resume(cookie: string, nowMs: number): Promise<Session | null> {
    const secret = await this.#secret.read();
    const opened = this.#open(cookie, secret);
    if (opened === null) return null;
    const { sealed, formToken } = opened;
    const { startMs, usedMs, data } = sealed;
    if (nowMs >= startMs + SESSION_MS || nowMs >= usedMs + IDLE_MS || nowMs < usedMs - SKEW_MS) return null;
    const renewed = (): string | null =>
      nowMs < usedMs + NOTED_EVERY_MS ? null : this.#encrypt({ ...sealed, usedMs: nowMs }, secret);
    return (await this.#secret.hasEnded(formToken)) ? null : { data, renewed, formToken };
  }

  /** Remembers the cookies opened last: a page that polls sends the same one again and again. */
  #open(cookie: string, secret: Buffer): Opened | null {
    const known = this.#opened.get(cookie);
    if (known?.secret.equals(secret) === true) return known;
    const text = decrypt(this.#purpose, cookie, secret);
    if (text === null) return null;
    const sealed = JSON.parse(text) as Sealed;
    const opened = { sealed, secret, formToken: this.#formToken(sealed.id, secret) };
    if (this.#opened.size >= MAX_OPENED) this.#opened.delete(this.#opened.keys().next().value!);
    this.#opened.set(cookie, opened);
    return opened;
  }

  /** Ends a session at all gateways, including copies of its cookie. The store keeps this until no copy is valid. */
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

/** Returns whether a submitted form belongs to the session. */
export function isOwnForm({ formToken }: Pick<Session, 'formToken'>, sent: string | null): boolean {
  if (sent === null) return false;
  const [own, given] = [Buffer.from(formToken), Buffer.from(sent)];
  return own.length === given.length && timingSafeEqual(own, given);
}
