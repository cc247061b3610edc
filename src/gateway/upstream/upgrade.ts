import { createHash } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import util from 'node:util';
import type ProxyServer from 'http-proxy';
import { commonHeaders } from '../answer.js';
import { lowerName } from '../edge/fields.js';
import type { Admitted, ClientEnd, Handshake } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Address } from './addresses/address.js';
import { Attempt, type ResponseRules } from './attempt.js';
import type { Carry } from './deliver.js';
import { appendResponseHeaders } from './headers.js';
import { onceReady, openSocket } from './http1/dial.js';
import type { Controller, OutgoingRequest, Unanswered } from './transport.js';

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
        // http-proxy puts paths together anew; what was routed is what is asked for.
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

/** Whom http-proxy believes to ask: the agent knows better. */
const NOWHERE = { protocol: 'http:', host: 'localhost', hostname: 'localhost', port: 80 };

/** Connects as plain requests do, with TLS and a deadline. Says why there is no connection, before Node does. */
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

/** Listens to the request before http-proxy does, so that each event reaches us first. */
function follow(followed: Followed): Controller {
  const { attempt, outgoing } = followed;
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
  return controller;
}

function pass(response: IncomingMessage, controller: Controller, attempt: Attempt): void {
  const { statusCode = 0 } = response;
  if (statusCode < 200) {
    // A switch to nothing that was asked for.
    attempt.stop(REFUSALS.upstream_failed);
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

/** Ties the client's end to the upstream's; false when that is no answer to this handshake, or nobody hears it. */
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
    // What it sent before an orderly end still has to be passed on.
    if (!end.writableEnded) end.destroy();
  });
  end.on('close', leave);
  response.headers = answerFields(exchange, response, rules);
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
function answerFields(exchange: Admitted, response: IncomingMessage, rules: ResponseRules): Fields {
  const headers = commonHeaders(exchange);
  appendResponseHeaders(headers, 101, receivedFields(response, 'content-length'), exchange, rules);
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

let loaded: typeof ProxyServer | null = null;

/** Loaded with the first handshake, and after what newer versions of Node warn of was put in its place. */
function loadProxy(): typeof ProxyServer {
  if (loaded === null) {
    Object.assign(util, { _extend: Object.assign });
    loaded = createRequire(import.meta.url)('http-proxy') as typeof ProxyServer;
  }
  return loaded;
}
