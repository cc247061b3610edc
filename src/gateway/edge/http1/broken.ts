import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Client, Exchange } from '../../exchange.js';
import { REFUSALS } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { nextTraceparent, requestIdOf } from '../trace.js';
import { bucketOf } from '../client-address.js';
import type { AddressReader } from '../client-address.js';
import { renderRefusal } from '../../answer.js';
import { connectionOf } from './connection.js';
import { originIn } from '../cors.js';
import type { Gate } from '../gate.js';
import { freshStory } from '../open.js';

/** `rawPacket` is what it was reading, credentials included. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** The parser gave up, or the client is gone. */
export function onClientError(error: ParserError, socket: Socket, gate: Gate): void {
  if (connectionOf(socket).closing) return;
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) socket.destroy();
  else giveUp(socket, refusalOf(error.code), gate, error.rawPacket);
}

/**
 * No more requests can be read. Those read before keep their places, and the newest of
 * them learns that its body, if still on its way, will not come; with none, the answer is written here.
 */
function giveUp(socket: Socket, refusal: Refusal, gate: Gate, packet?: Buffer): void {
  const connection = connectionOf(socket);
  if (connection.broken !== null) return;
  connection.broken = refusal;
  if (connection.current === null) answerRaw(socket, refusal, gate, packet);
  else if (connection.waiting.length === 0) connection.current.breakOff(refusal);
}

/** Node's parser has let go of the connection: what it did for the answers that are still due is done here. */
export function stopReading(socket: Socket, refusal: Refusal, gate: Gate): void {
  const cut = (): void => void socket.destroy();
  socket.on('error', cut).on('timeout', cut);
  giveUp(socket, refusal, gate);
}

function refusalOf(code: string | undefined): Refusal {
  switch (code) {
    case undefined: return REFUSALS.malformed_request;
    case 'HPE_HEADER_OVERFLOW': return REFUSALS.headers_too_large;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW': return REFUSALS.body_too_large;
    case 'ERR_HTTP_REQUEST_TIMEOUT': return REFUSALS.request_timeout;
    default: return REFUSALS.malformed_request;
  }
}

/** An answer past Node's HTTP server, with all that every answer carries. */
function answerRaw(socket: Socket, refusal: Refusal, gate: Gate, packet?: Buffer): void {
  connectionOf(socket).closing = true;
  socket.on('error', () => socket.destroy());
  const exchange = rawExchange(socket.remoteAddress, gate.addresses);
  exchange.story.refusal = refusal;
  if (gate.cors !== null) exchange.story.cors = gate.cors.fieldsFor(originIn(packet));
  void gate.showFigures(exchange).then(() => {
    const { headers, body } = renderRefusal(exchange, refusal);
    let text = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\nDate: ${new Date().toUTCString()}\r\n`;
    for (let index = 0; index < headers.length; index += 2) text += `${headers[index]!}: ${headers[index + 1]!}\r\n`;
    if (!refusal.closes) text += 'Connection: close\r\n';
    if (!socket.destroyed) socket.write(`${text}\r\n${body}`);
    socket.destroySoon();
    gate.finish(exchange, refusal.status);
  });
}

/** Stands for a client whose request could not be read; its answer goes to the socket itself. */
const NOBODY: Client = {
  gone: false, started: true, bytesOut: 0,
  onGone: () => undefined, readBody: () => Promise.resolve('gone'), send: () => undefined, start: () => undefined,
  write: () => true, onDrain: () => undefined, end: () => undefined, abort: () => undefined,
};

/** Stands for an exchange of which nothing was read, or kept. */
export function rawExchange(remote: string | undefined, addresses: AddressReader, version: string | null = null): Exchange {
  const address = addresses.read(remote, null);
  return {
    id: requestIdOf(null), ...nextTrace(), version, method: '', path: '', query: '', headers: [], authorization: null,
    hasBody: false, contentLength: null, address, addressBucket: bucketOf(address),
    startedMs: performance.now(), fault: null, client: NOBODY, story: freshStory(),
  };
}

function nextTrace(): { traceparent: string; traceContinued: boolean } {
  const { traceparent, continued } = nextTraceparent(null);
  return { traceparent, traceContinued: continued };
}
