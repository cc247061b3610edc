/** Of AES-256. */
export const SESSION_SECRET_BYTES = 32;

/**
 * What the cookies of pages are sealed with, and which sessions were ended by hand; the same for all gateways on the
 * store. It moves to no other store and is in no copy for outages: without it nobody is signed in, and nothing else is
 * lost.
 */
export interface SessionSecret {
  /** Whoever asks first makes it. */
  read(): Promise<Buffer>;
  /** Puts another in its place: every session ends. Rejects with ChangeUncertain when no replica confirmed it. */
  replace(): Promise<void>;
  /** Remembers for so long that a session was ended. Rejects with ChangeUncertain as above. */
  end(sessionId: string, keptMs: number): Promise<void>;
  hasEnded(sessionId: string): Promise<boolean>;
}
