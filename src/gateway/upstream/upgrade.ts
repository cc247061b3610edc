import { createHash } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import util from 'node:util';
import type ProxyServer from 'http-proxy';
import { commonHeaders } from '../answer.js';
import { lowerName } from '../edge/fields.js';
import type { Admitted, ClientEnd, Handshake } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import { Attempt, type OnReplaced } from './attempt.js';
import type { Carry } from './deliver.js';
import { appendResponseHeaders, requestHeaders } from './headers.js';
import { destination, type Address } from './address.js';
import type { Controller } from './transport.js';

/** What Sec-WebSocket-Accept is made with (RFC 6455 §1.3). */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const NOTHING = Buffer.alloc(0);

type Fields = Record<string, string | string[]>;

/**
 * Carries a handshake to the upstream, and the tunnel when that agrees. http-proxy says the handshake and joins the two
 * sockets; what the client receives is ours: the head of the 101, and every other answer as that of a plain request.
 */
export function carryHandshake(
  exchange: Admitted,
  handshake: Handshake,
  internalToken: string,
  connectMs: number,
  onReplaced: OnReplaced,
): Carry {
  const headers = groupedFields(requestHeaders(exchange, internalToken));
  headers['connection'] = 'Upgrade';
  headers['upgrade'] = 'websocket';
  const request = { method: 'GET', url: exchange.path + exchange.query, headers } as unknown as IncomingMessage;
  return (address, onEnd) => {
    const end = handshake.createEnd().on('error', () => undefined);
    const proxy = loadProxy().createProxyServer({ target: targetOf(address), toProxy: true, prependPath: false });
    return new Attempt(exchange, onReplaced, onEnd, (attempt) => {
      proxy.on('proxyReqWs', (outgoing) => follow({ exchange, handshake, address, attempt, end, outgoing, connectMs }));
      proxy.ws(request, end, NOTHING, {}, () => attempt.onResponseError());
      return null;
    });
  };
}

interface Followed {
  readonly exchange: Admitted;
  readonly handshake: Handshake;
  readonly address: Address;
  readonly attempt: Attempt;
  readonly end: ClientEnd;
  readonly outgoing: ClientRequest;
  readonly connectMs: number;
}

/** Listens to the request before http-proxy does, so that each event reaches us first. */
function follow(followed: Followed): void {
  const { exchange, attempt, outgoing, connectMs } = followed;
  // http-proxy puts paths together anew; what was routed is what is asked for.
  outgoing.path = exchange.path + exchange.query;
  let opened = false;
  let answer: IncomingMessage | null = null;
  const controller: Controller = {
    abort: () => {
      if (!opened) outgoing.destroy();
    },
    pause: () => void answer?.pause(),
    resume: () => void answer?.resume(),
    // Node reads into memory of its own.
    release: () => undefined,
  };
  outgoing.once('socket', (socket) => onceConnected(socket, connectMs, () => attempt.onRequestStart(controller)));
  outgoing.on('response', (response) => {
    // http-proxy writes the answer too, as it came; into an end that isn't open, and so to nobody.
    answer = response;
    pass(response, controller, attempt);
  });
  outgoing.on('upgrade', (response, socket) => {
    opened = join(followed, response, socket);
    if (opened) attempt.stop('answered');
    else attempt.stop(REFUSALS.upstream_failed);
  });
}

/** A connection that does not come is given up, as that of a plain request is. */
function onceConnected(socket: Socket, connectMs: number, connected: () => void): void {
  if (!socket.connecting) {
    connected();
    return;
  }
  const deadline = setTimeout(() => void socket.destroy(new Error('no connection in time')), connectMs);
  socket
    .once('close', () => clearTimeout(deadline))
    .once('connect', () => {
      clearTimeout(deadline);
      connected();
    });
}

function pass(response: IncomingMessage, controller: Controller, attempt: Attempt): void {
  const { statusCode = 0 } = response;
  if (statusCode < 200) {
    // A switch to nothing that was asked for.
    attempt.stop(REFUSALS.upstream_failed);
    return;
  }
  attempt.onResponseStart(controller, statusCode, receivedFields(response));
  response.on('data', (chunk: Buffer) => attempt.onResponseData(controller, chunk));
  response.on('end', () => {
    if (response.complete) attempt.onResponseEnd();
  });
  response.on('error', () => attempt.onResponseError());
}

/** Ties the client's end to the upstream's; false when that is no answer to this handshake, or nobody hears it. */
function join({ exchange, handshake, address, end }: Followed, response: IncomingMessage, socket: Socket): boolean {
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
    // What it sent before an orderly end still has to be passed on.
    if (!end.writableEnded) end.destroy();
  });
  end.on('close', leave);
  response.headers = answerFields(exchange, response);
  end.open();
  return true;
}

/** Whether this answers this very handshake (RFC 6455 §4.1): anything else may answer something smuggled. */
function accepts({ statusCode, headers }: IncomingMessage, key: string): boolean {
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  return (
    statusCode === 101 && headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-accept'] === accept
  );
}

/** Flat, names in lower case; without those of `left`. */
function receivedFields({ rawHeaders }: IncomingMessage, left: string | null = null): string[] {
  const fields: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = lowerName(rawHeaders[index]!);
    if (name !== left) fields.push(name, rawHeaders[index + 1]!);
  }
  return fields;
}

/** The head of the 101 as the client gets it; it has no body that could have a length. */
function answerFields(exchange: Admitted, response: IncomingMessage): Fields {
  const headers = commonHeaders(exchange);
  appendResponseHeaders(headers, 101, receivedFields(response, 'content-length'), exchange.logEntry.cors !== null);
  headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  return groupedFields(headers);
}

/** Fields by name; those that came several times keep their order. */
function groupedFields(flat: readonly string[]): Fields {
  const fields = Object.create(null) as Record<string, string[]>;
  for (let index = 0; index < flat.length; index += 2) (fields[flat[index]!] ??= []).push(flat[index + 1]!);
  return Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
  );
}

function targetOf({ url }: Address): {
  protocol: string;
  host: string;
  hostname: string;
  port: number;
  socketPath?: string;
} {
  const { target } = destination(url);
  if ('path' in target)
    return { protocol: 'http:', host: 'localhost', hostname: 'localhost', port: 80, socketPath: target.path };
  return { protocol: 'http:', host: target.host, hostname: target.host, port: target.port };
}

let loaded: typeof ProxyServer | null = null;

/** Loaded with the first handshake, and after what newer versions of Node warn of was put in its place. */
function loadProxy(): typeof ProxyServer {
  if (loaded === null) {
    Object.assign(util, { _extend: Object.assign });
    loaded = createRequire(import.meta.url)('http-proxy') as typeof ProxyServer;
  }
  return loaded;
}
