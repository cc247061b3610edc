import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from '../../terminal/command-error.js';
import { cell } from '../../../shared/text/readable.js';
import type { UsageEvent } from './event.js';

/** Where events go. */
export interface Receiver {
  readonly url: string;
  /** Bearer token; null for none. Never shown. */
  readonly token: string | null;
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
  receiver: Receiver,
  events: readonly UsageEvent[],
  onRetry: (message: string) => void,
): Promise<void> {
  const { url, retryForMs } = receiver;
  const body = JSON.stringify(events);
  const endMs = performance.now() + retryForMs;
  for (let attempt = 0; ; attempt += 1) {
    const { reason, waitMs } = await send(receiver, body);
    if (reason === null) return;
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS);
    // Random, so that several pushers do not return together.
    const pauseMs = Math.max(waitMs, longest * (0.5 + Math.random() / 2));
    if (performance.now() + pauseMs > endMs)
      throw new CommandError(
        `${url} does not accept events: ${reason}. What was acknowledged is remembered; run the same command ` +
          'again to continue.',
      );
    onRetry(`${url} does not accept events: ${reason}. Next attempt in ${(pauseMs / 1000).toFixed(1)} s.`);
    await pause(pauseMs);
  }
}

/** One attempt. `reason` null: acknowledged. */
async function send(
  { url, token }: Receiver,
  body: string,
): Promise<{ readonly reason: string | null; readonly waitMs: number }> {
  const received = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body,
    // A redirect could send token and figures to another party.
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
    .then(async (response) => ({ response, said: await response.text() }))
    .catch((error: unknown) => {
      const { cause, message } = error as Error & { readonly cause?: NodeJS.ErrnoException };
      return cause?.code ?? message;
    });
  if (typeof received === 'string') return { reason: `no response (${received})`, waitMs: 0 };
  const { ok, status, headers } = received.response;
  if (ok) return { reason: null, waitMs: 0 };
  if (status === 408 || status === 429 || status >= 500)
    return { reason: `it returned ${status}`, waitMs: retryAfterMs(headers.get('retry-after')) };
  throw new CommandError(
    `${url} refuses the events: it returned ${status} ${cell(received.said.slice(0, SHOWN_CHARACTERS))}. Check --to ` +
      'and PETGATE_PUSH_TOKEN, then run the same command again.',
  );
}

/** Converts Retry-After (RFC 9110 §10.2.3), seconds or a date, to ms from now; 0 if absent or invalid. */
function retryAfterMs(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0);
}
