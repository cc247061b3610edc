import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.js';
import { cell } from '../../../shared/text/readable.js';
import type { UsageEvent } from './event.js';

/** Where events go. */
export interface Receiver {
  /** Its URL. */
  readonly to: string;
  /** Bearer token; empty for none. Never shown. */
  readonly token: string;
  /** How long to retry one batch. */
  readonly retryForMs: number;
}

const TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;
const SHOWN_CHARACTERS = 200;

/**
 * Sends one batch (CloudEvents 1.0 HTTP binding, batched content mode); resolves once the response is a 2xx. Retries
 * after 408, 429, 5xx and network errors, as Retry-After says or with growing pauses. Throws CommandError for any other
 * response, and after `retryForMs`.
 * @param onRetry called with what went wrong and when the next attempt is
 */
export async function deliver(
  { to, token, retryForMs }: Receiver,
  events: readonly UsageEvent[],
  onRetry: (message: string) => void,
): Promise<void> {
  const type = { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' };
  const headers = token === '' ? type : { ...type, authorization: `Bearer ${token}` };
  const body = JSON.stringify(events);
  const endMs = performance.now() + retryForMs;
  for (let longestMs = FIRST_PAUSE_MS; ; longestMs = Math.min(longestMs * 2, MAX_PAUSE_MS)) {
    let [reason, waitMs] = ['', 0];
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      // A redirect could send token and figures to another party.
      const response = await fetch(to, { method: 'POST', headers, body, redirect: 'manual', signal });
      const [said, { ok, status }] = [await response.text(), response];
      if (ok) return;
      if (status !== 408 && status !== 429 && status < 500)
        throw new CommandError(
          `${to} refuses the events: it returned ${status} ${cell(said.slice(0, SHOWN_CHARACTERS))}. Check --to ` +
            'and PETGATE_PUSH_TOKEN, then run the same command again.',
        );
      [reason, waitMs] = [`it returned ${status}`, retryAfterMs(response.headers.get('retry-after') ?? '')];
    } catch (error) {
      if (error instanceof CommandError) throw error;
      const { cause, message } = error as Error & { readonly cause?: NodeJS.ErrnoException };
      reason = `no response (${cause?.code ?? message})`;
    }
    // Random, so that several pushers do not return together.
    const pauseMs = Math.max(waitMs, longestMs * (0.5 + Math.random() / 2));
    const problem = `${to} does not accept events: ${reason}.`;
    if (performance.now() + pauseMs > endMs)
      throw new CommandError(`${problem} What was acknowledged is remembered; run the same command again to continue.`);
    onRetry(`${problem} Next attempt in ${(pauseMs / 1000).toFixed(1)} s.`);
    await pause(pauseMs);
  }
}

/** Converts Retry-After (RFC 9110 §10.2.3), seconds or a date, to ms from now; 0 if empty or invalid. */
function retryAfterMs(value: string): number {
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Math.max(ms || 0, 0);
}
