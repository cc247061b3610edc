import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

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
  readonly requests: readonly { readonly atMs: number; readonly headers: IncomingMessage['headers'] }[];
  /** Events that came again. */
  repeats: number;
  /** Events that came again under the same id, and were not the same. */
  contradictions: number;
  behave: () => Behaviour;
}

/** A billing system that keeps each event once, as CloudEvents asks for; a real server on a free port. */
export async function startReceiver(t: Test): Promise<Receiver> {
  const events = new Map<string, Received>();
  const requests: { atMs: number; headers: IncomingMessage['headers'] }[] = [];
  const receiver = { url: '', events, requests, repeats: 0, contradictions: 0, behave: (): Behaviour => 'take' };
  const store = (body: string): void => {
    for (const event of JSON.parse(body) as Received[]) {
      const name = `${event.source} ${event.id}`;
      const known = events.get(name);
      if (known === undefined) events.set(name, event);
      else {
        receiver.repeats += 1;
        if (JSON.stringify(known) !== JSON.stringify(event)) receiver.contradictions += 1;
      }
    }
  };
  const handle = (behaviour: Behaviour, body: string, response: ServerResponse): void => {
    if (behaviour === 'break_before') response.destroy();
    else if (behaviour === 'break_after') {
      store(body);
      response.destroy();
    } else if (behaviour === 'refuse') response.writeHead(503).end();
    else if (behaviour === 'take') {
      store(body);
      response.writeHead(204).end();
    } else response.writeHead(behaviour.status, behaviour.headers ?? {}).end('no');
  };
  const server = createServer((request, response) => {
    requests.push({ atMs: performance.now(), headers: request.headers });
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    // A body that a kill cut short has no end, and is not stored.
    request.on('end', () => handle(receiver.behave(), body, response));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(receiver, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` });
}
