import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, withMessage, type Refusal } from '../../refusal.js';
import { renderRefusal } from '../../answer.js';
import { connectionOf } from './connection.js';
import { originIn } from '../cors.js';
import type { Handler } from '../handler.js';
import { unreadExchange } from '../unread.js';

/** `rawPacket` is what it was reading, credentials included. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

export function onClientError(error: ParserError, socket: Socket, handler: Handler): void {
  const { closing, current } = connectionOf(socket);
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  // Node knows no longer time for a longer body, and goes on as before once this was heard.
  if (closing || (isLate && current?.isStreaming === true)) return;
  // Whoever never sent a byte asked for nothing: a first request on its way would take an answer for its own.
  const isSilent = isLate && socket.bytesRead === 0;
  if (isSilent || error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) socket.destroy();
  else giveUp(socket, REFUSED_AS.get(error.code ?? '') ?? REFUSALS.malformed_request, handler, error.rawPacket);
}

/** No more can be read. The newest request read learns that its body will not come; without one, we answer here. */
function giveUp(socket: Socket, refusal: Refusal, handler: Handler, packet?: Buffer): void {
  const connection = connectionOf(socket);
  if (connection.broken !== null) return;
  connection.broken = refusal;
  if (connection.current === null) answerRaw(socket, refusal, handler, packet);
  else if (connection.waiting.length === 0) connection.current.breakOff(refusal);
}

/** Node's parser has let go of the connection: what it did for the answers that are still due is done here. */
export function stopReading(socket: Socket, refusal: Refusal, handler: Handler): void {
  const cut = (): void => void socket.destroy();
  socket.on('error', cut).on('timeout', cut);
  giveUp(socket, refusal, handler);
}

/** What other codes of the parser's errors stand for than a malformed request. */
const REFUSED_AS = new Map([
  ['HPE_HEADER_OVERFLOW', REFUSALS.headers_too_large],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', withMessage(REFUSALS.body_too_large, 'Send the body without chunk extensions.')],
  ['ERR_HTTP_REQUEST_TIMEOUT', REFUSALS.request_timeout],
]);

/** An answer past Node's HTTP server, with all that every answer carries. */
function answerRaw(socket: Socket, refusal: Refusal, handler: Handler, packet?: Buffer): void {
  connectionOf(socket).closing = true;
  socket.on('error', () => socket.destroy());
  // At a FIN Node would end the connection before this answer.
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
