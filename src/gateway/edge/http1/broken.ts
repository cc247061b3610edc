import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, withMessage, type Refusal } from '../../refusal.js';
import { renderRefusal } from '../../answer.js';
import { connectionOf } from './connection.js';
import { originIn } from '../cors.js';
import type { Handler } from '../handler.js';
import { unreadExchange } from '../unread.js';

/** `rawPacket` holds what was being parsed, including credentials. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

export function onClientError(error: ParserError, socket: Socket, handler: Handler): void {
  const { closing, current } = connectionOf(socket);
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  // Node's request timeout makes no exception for long bodies. Node continues if the error is ignored.
  if (closing || (isLate && current?.isStreaming === true)) return;
  // A client that never sent a byte gets no 408: a first request on its way would take it for its response.
  const isSilent = isLate && socket.bytesRead === 0;
  if (isSilent || error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) socket.destroy();
  else giveUp(socket, REFUSED_AS.get(error.code ?? '') ?? REFUSALS.malformed_request, handler, error.rawPacket);
}

/** Nothing more can be read: breaks off the newest request read, once it runs; if there is none, responds here. */
function giveUp(socket: Socket, refusal: Refusal, handler: Handler, packet?: Buffer): void {
  const connection = connectionOf(socket);
  if (connection.broken !== null) return;
  connection.broken = refusal;
  if (connection.current === null) respondRaw(socket, refusal, handler, packet);
  else if (connection.waiting.length === 0) connection.current.breakOff(refusal);
}

/** Node's parser has released the connection: handles errors and timeouts while responses are still due. */
export function stopReading(socket: Socket, refusal: Refusal, handler: Handler): void {
  const cut = (): void => void socket.destroy();
  socket.on('error', cut).on('timeout', cut);
  giveUp(socket, refusal, handler);
}

/** Refusals for parser error codes; all others are a malformed request. */
const REFUSED_AS = new Map([
  ['HPE_HEADER_OVERFLOW', REFUSALS.headers_too_large],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', withMessage(REFUSALS.body_too_large, 'Send the body without chunk extensions.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', REFUSALS.request_timeout],
]);

/** Writes a response that bypasses Node's HTTP server, with the headers of every response. */
function respondRaw(socket: Socket, refusal: Refusal, handler: Handler, packet?: Buffer): void {
  connectionOf(socket).closing = true;
  socket.on('error', () => socket.destroy());
  // On a FIN, Node would end the connection before this response.
  socket.removeAllListeners('end');
  const exchange = unreadExchange(socket.remoteAddress, handler);
  exchange.logEntry.refusal = refusal;
  if (handler.cors !== null) exchange.logEntry.cors = handler.cors.fieldsFor(originIn(packet));
  void handler.readVerdict(exchange).then(() => {
    const { headers, body } = renderRefusal(exchange, refusal, handler.errors);
    let text =
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}\r\nDate: ` + `${new Date().toUTCString()}\r\n`;
    for (let index = 0; index < headers.length; index += 2) text += `${headers[index]!}: ${headers[index + 1]!}\r\n`;
    if (!refusal.closes) text += 'Connection: close\r\n';
    if (!socket.destroyed) socket.write(`${text}\r\n${body}`);
    socket.destroySoon();
    handler.finish(exchange, refusal.status);
  });
}
