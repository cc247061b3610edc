/** For AES-256. */
export const SESSION_SECRET_BYTES = 32;

/**
 * The key that seals cookies of pages, and the sessions ended by hand; shared by all gateways on the store. It is not
 * exported, nor copied for outages: losing it signs everyone out, and nothing more.
 */
export interface SessionSecret {
  /** Creates it on the first call. */
  read(): Promise<Buffer>;
  /** Replaces it, which ends every session. Rejects with ChangeUncertain if no replica confirmed it. */
  replace(): Promise<void>;
  /** Remembers for `keptMs` that a session was ended. Rejects with ChangeUncertain as above. */
  end(sessionId: string, keptMs: number): Promise<void>;
  hasEnded(sessionId: string): Promise<boolean>;
}
