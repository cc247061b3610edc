import type { IncomingHttpHeaders } from 'node:http';
import type { Test } from 'tap';
import { startReceiver as startServer } from '../../../servers/receiver.js';

/** A CloudEvent as it came. */
export interface Received {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly data: Readonly<Record<string, string | number | boolean>>;
}

/** What the receiver does with a request: takes it, or fails before or after it has stored the events. */
export type Behaviour =
  | 'take'
  | 'refuse'
  | 'break_before'
  | 'break_after'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

export interface Receiver {
  readonly url: string;
  /** By source and id, the first of each. */
  readonly events: ReadonlyMap<string, Received>;
  readonly requests: readonly { readonly atMs: number; readonly headers: IncomingHttpHeaders }[];
  /** Events that came again. */
  repeats: number;
  /** Events that came again under the same id, and were not the same. */
  contradictions: number;
  behave: () => Behaviour;
}

/** A billing system that keeps each event once, as CloudEvents asks for; a real server on a free port. */
export async function startReceiver(t: Test): Promise<Receiver> {
  const events = new Map<string, Received>();
  const requests: { atMs: number; headers: IncomingHttpHeaders }[] = [];
  const receiver = { events, requests, repeats: 0, contradictions: 0, behave: (): Behaviour => 'take' };
  const store = (event: Received): void => {
    const name = `${event.source} ${event.id}`;
    const known = events.get(name);
    if (known === undefined) return void events.set(name, event);
    receiver.repeats += 1;
    if (JSON.stringify(known) !== JSON.stringify(event)) receiver.contradictions += 1;
  };
  const { url } = await startServer(t, (response, { headers, body }) => {
    requests.push({ atMs: performance.now(), headers });
    const behaviour = receiver.behave();
    if (behaviour === 'take' || behaviour === 'break_after') (JSON.parse(body) as Received[]).forEach(store);
    if (typeof behaviour === 'object') response.writeHead(behaviour.status, behaviour.headers).end('no');
    else if (behaviour.startsWith('break')) response.destroy();
    else response.writeHead(behaviour === 'take' ? 204 : 503).end();
  });
  return Object.assign(receiver, { url });
}
