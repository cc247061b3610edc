import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdminRefusal, Answer, Headers } from '../actions/answer.js';
import type { Log } from '../../shared/log.js';

/** A response of what is mounted next to the admin API. */
export interface MountedAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | AsyncIterable<string | Buffer>;
}

// Responses contain secrets and current figures: they must not be cached, nor their type guessed.
const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Sends `answer`. Fastify aborts a stream that fails after its first bytes, so that it can't look complete. */
export async function send(reply: FastifyReply, answer: Answer, log: Log): Promise<void> {
  reply.headers(COMMON_HEADERS);
  if (answer === undefined) reply.send();
  else if ('json' in answer) reply.send(answer.json);
  else if ('text' in answer) reply.type(answer.type).send(answer.text);
  else {
    const stream = await begun(answer.chunks, log);
    reply
      .type(answer.type)
      .headers(answer.headers ?? {})
      .send(stream);
  }
}

/** Sends a response of what is mounted next to the admin API. */
export async function sendMounted(
  reply: FastifyReply,
  { status, headers, body }: MountedAnswer,
  log: Log,
): Promise<void> {
  const sent = typeof body === 'string' ? body : await begun(body, log);
  reply.code(status).headers(headers).send(sent);
}

/** Waits for the first chunk before the head is sent: if the store is unavailable, a 503 is still possible. */
async function begun(chunks: AsyncIterable<string | Buffer>, log: Log): Promise<Readable> {
  const stream = Readable.from(chunks);
  await once(stream, 'readable');
  stream.on('error', (err) => log.warn({ err: nameOf(err) }, 'an admin response was cut short'));
  return stream;
}

/** Sends an error in its only form (contract, section 7). */
export function sendRefusal(reply: FastifyReply, { status, code, message, headers }: AdminRefusal): void {
  reply.code(status).headers(COMMON_HEADERS).headers(headers).send({ code, message, status });
}

/** Returns an error for the log: where it came from, not what was sent. */
export function nameOf(error: unknown): Record<string, unknown> {
  return error instanceof Error
    ? { type: error.name, message: error.message, stack: error.stack }
    : { type: typeof error };
}
