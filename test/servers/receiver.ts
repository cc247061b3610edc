import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { listen } from './listen.js';
import type { Teardown } from './program.js';

/** One attempt that a receiver was sent. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The CloudEvent. */
  readonly event: Readonly<Record<string, unknown>>;
}

interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All attempts so far. */
  readonly received: readonly Received[];
  /** Ids of the events that were answered 200, repeats included. */
  taken(): readonly string[];
}

/** How a receiver answers; it may also not answer, or cut. */
export type Answering = (response: ServerResponse, received: Received) => void;

/** A receiver of webhooks on 127.0.0.1; ends with the test. */
export async function startReceiver(t: Teardown, answer: Answering = (response) => response.end()): Promise<Receiver> {
  const received: Received[] = [];
  const taken: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const event = JSON.parse(body) as Received['event'];
      const each = { path: request.url ?? '', headers: request.headers, body, event };
      received.push(each);
      response.on('finish', () => {
        if (response.statusCode === 200) taken.push(String(event['id']));
      });
      answer(response, each);
    });
  });
  const { port } = await listen(t, server);
  return { url: `http://127.0.0.1:${port}/hook?from=petgate`, port, received, taken: () => taken };
}

/** Which of the signatures are good under `secret` (Standard Webhooks, written down once more). */
export function goodSignatures(
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  secret: string,
): readonly boolean[] {
  const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])];
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const good = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => signature === good);
}
