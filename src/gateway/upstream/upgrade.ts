import { createHash } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import util from 'node:util';
import type ProxyServer from 'http-proxy';
import { commonHeaders } from '../answer.js';
import { lowerName } from '../edge/fields.js';
import type { Admitted, ClientEnd, Handshake } from '../exchange.js';
import { upstreamFailed } from '../refusal.js';
import type { Address } from './addresses/address.js';
import { Attempt, type ResponseRules } from './attempt.js';
import type { Carry } from './deliver.js';
import { appendResponseHeaders } from './headers.js';
import { onceReady, openSocket } from './http1/dial.js';
import type { Controller, OutgoingRequest, Unanswered } from './http1/transport.js';

/** Appended to the key to compute Sec-WebSocket-Accept (RFC 6455 §1.3). */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const NOTHING = Buffer.alloc(0);

/**
 * Carries a handshake to the upstream, and the tunnel if that accepts. http-proxy sends the handshake and connects the
 * two sockets. The gateway decides what the client receives: the head of the 101, or any other response as for a plain
 * request.
 */
export function carryHandshake(
  exchange: Admitted,
  handshake: Handshake,
  { target, headers, host }: OutgoingRequest,
  connectMs: number,
  rules: ResponseRules,
): Carry {
  return (address, onEnd) => {
    const fields = groupedFields([...headers, 'connection', 'Upgrade', 'upgrade', 'websocket']);
    fields['host'] = host ?? address.host;
    const request = { method: 'GET', url: address.prefix + target, headers: fields } as unknown as IncomingMessage;
    const end = handshake.createEnd().on('error', () => undefined);
    return new Attempt(exchange, rules, onEnd, (attempt) => {
      let unsent: Unanswered | undefined;
      let onReady = (): void => undefined;
      const agent = agentOf(
        address,
        connectMs,
        () => onReady(),
        (why) => (unsent = why),
      );
      const proxy = loadProxy().createProxyServer({ target: NOWHERE, agent, toProxy: true });
      proxy.on('proxyReqWs', (outgoing) => {
        // http-proxy rebuilds the path; the upstream must get the one that was routed.
        outgoing.path = address.prefix + target;
        const controller = follow({ exchange, handshake, address, rules, attempt, end, outgoing });
        onReady = () => attempt.onRequestStart(controller);
      });
      proxy.ws(request, end, NOTHING, {}, ({ code = '' }: NodeJS.ErrnoException) =>
        attempt.onResponseError(code.startsWith('HPE_') ? { unreadable: 'not_http' } : unsent),
      );
      return null;
    });
  };
}

/** A placeholder target for http-proxy: the agent makes the real connection. */
const NOWHERE = { protocol: 'http:', host: 'localhost', hostname: 'localhost', port: 80 };

/** Connects as plain requests do, with TLS and a deadline. Reports why there is no connection before Node does. */
function agentOf(
  { peer }: Address,
  connectMs: number,
  onReady: () => void,
  onUnsent: (why: Unanswered) => void,
): Agent {
  const createConnection = (): Socket => {
    const socket = openSocket(peer);
    onceReady(socket, peer, connectMs, onReady, onUnsent);
    return socket;
  };
  return Object.assign(new Agent(), { createConnection });
}

interface Followed {
  readonly exchange: Admitted;
  readonly handshake: Handshake;
  readonly address: Address;
  readonly rules: ResponseRules;
  readonly attempt: Attempt;
  readonly end: ClientEnd;
  readonly outgoing: ClientRequest;
}

/** Listens to the request before http-proxy does, so that each event is handled here first. */
function follow(followed: Followed): Controller {
  const { attempt, outgoing } = followed;
  const { upstream } = followed.exchange.operation;
  let opened = false;
  let answer: IncomingMessage | null = null;
  const controller: Controller = {
    abort: () => {
      if (!opened) outgoing.destroy();
    },
    pause: () => void answer?.pause(),
    resume: () => void answer?.resume(),
    // Node allocates the memory, so there is nothing to reuse.
    release: () => undefined,
  };
  outgoing.on('response', (response) => {
    // http-proxy also writes this response, unchanged, but to an end that is not open: nobody receives it.
    answer = response;
    pass(response, controller, attempt, upstream);
  });
  outgoing.on('upgrade', (response, socket) => {
    opened = join(followed, response, socket);
    if (opened) attempt.stop('answered');
    else attempt.stop(upstreamFailed('handshake_refused', upstream));
  });
  return controller;
}

function pass(response: IncomingMessage, controller: Controller, attempt: Attempt, upstream: string): void {
  const { statusCode = 0 } = response;
  if (statusCode < 200) {
    // A protocol switch that was not requested.
    attempt.stop(upstreamFailed('protocol_switched', upstream));
    return;
  }
  attempt.onResponseStart(controller, statusCode, receivedFields(response));
  attempt.onResponsePart();
  response.on('data', (chunk: Buffer) => {
    attempt.onResponseData(controller, chunk);
    attempt.onResponsePart();
  });
  response.on('end', () => {
    if (response.complete) attempt.onResponseEnd();
  });
  response.on('error', () => attempt.onResponseError());
}

/** Connects the client's end to the upstream's; false if this handshake was not accepted or the client has left. */
function join(
  { exchange, handshake, address, rules, end }: Followed,
  response: IncomingMessage,
  socket: Socket,
): boolean {
  const leave = (): void => void socket.destroy();
  socket.on('error', leave);
  const { gone, started } = exchange.client;
  if (gone || started || !accepts(response, handshake.key)) {
    leave();
    end.destroy();
    return false;
  }
  address.tunnels += 1;
  socket.on('close', () => {
    address.tunnels -= 1;
    // After an orderly end, what the upstream sent before must still be forwarded.
    if (!end.writableEnded) end.destroy();
  });
  end.on('close', leave);
  const headers = commonHeaders(exchange);
  // A 101 has no body, so no length.
  appendResponseHeaders(headers, 101, receivedFields(response, 'content-length'), exchange, rules);
  headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  response.headers = groupedFields(headers);
  end.open();
  return true;
}

/** Whether the response accepts this handshake (RFC 6455 §4.1): any other may be for a smuggled request. */
function accepts({ statusCode, headers }: IncomingMessage, key: string): boolean {
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  return (
    statusCode === 101 && headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-accept'] === accept
  );
}

/** Returns the fields flat, names in lower case, without the field `left`. */
function receivedFields({ rawHeaders }: IncomingMessage, left: string | null = null): string[] {
  const fields: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = lowerName(rawHeaders[index]!);
    if (name !== left) fields.push(name, rawHeaders[index + 1]!);
  }
  return fields;
}

/** Groups fields by name; repeated ones keep their order. */
function groupedFields(flat: readonly string[]): Record<string, string | string[]> {
  const fields = Object.create(null) as Record<string, string[]>;
  for (let index = 0; index < flat.length; index += 2) (fields[flat[index]!] ??= []).push(flat[index + 1]!);
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

let loaded: typeof ProxyServer | null = null;

/** Loads http-proxy at the first handshake. Before that, replaces `util._extend`, which newer Node versions warn of. */
function loadProxy(): typeof ProxyServer {
  if (loaded === null) {
    Object.assign(util, { _extend: Object.assign });
    loaded = createRequire(import.meta.url)('http-proxy') as typeof ProxyServer;
  }
  return loaded;
}
