import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { EdgeLimits } from '../../config/settings.js';
import type { ChunkSource } from '../../exchange.js';
import type { Refusal } from '../../refusal.js';
import { ServedClient } from '../client.js';
import type { Traffic } from '../traffic.js';
import { beginNext, cutWhenIdle, type Ongoing } from './connection.js';
import { mayBeFollowed } from './request.js';

/** Bodies up to this size are worth copying beside their header. */
const SINGLE_WRITE_BYTES = 16 * 1024;

/** Pieces that may wait for the connection, however short: what Node keeps for each is a hundred times a short one. */
const MAX_UNREAD = 64;

export class HttpClient extends ServedClient implements Ongoing {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #expectsContinue: boolean;
  /** Pieces of the answer that the connection has not taken. */
  #unread = 0;
  #closing = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
    traffic: Traffic,
    limits: EdgeLimits,
  ) {
    super(request, traffic, limits);
    this.#request = request;
    this.#response = response;
    this.#expectsContinue = expectsContinue;
    response.on('close', () => {
      if (!response.writableFinished) this.leave();
      this.closed();
    });
  }

  get status(): number {
    return this.#response.statusCode;
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  get peerAddress(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  get isEncrypted(): boolean {
    return this.#request.socket instanceof TLSSocket;
  }

  /** The next request on its connection has its turn. */
  protected override closed(): void {
    super.closed();
    beginNext(this.#request.socket);
  }

  protected isWhole(): boolean {
    return this.#request.complete;
  }

  protected beginBody(): void {
    if (this.#expectsContinue) this.#response.writeContinue();
  }

  /** Node goes on to time the request as a whole, and is not heeded (`broken.ts`). */
  protected beginRest(): void {}

  protected endedWhole(): boolean {
    return this.#request.complete;
  }

  /** The parser gave up on this connection: a body still on its way will not come. */
  breakOff(refusal: Refusal): void {
    if (!this.#request.complete) this.breakBody(refusal);
    this.closeAfter();
  }

  closeAfter(): void {
    if (this.#closing) return;
    this.#closing = true;
    if (!this.#response.headersSent) this.#response.shouldKeepAlive = false;
    else this.#response.once('finish', () => this.#request.socket.destroySoon());
  }

  send(status: number, headers: string[], body: Buffer | string): void {
    if (this.gone) return;
    this.start(status, headers);
    const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.bytesOut += bytes;
    this.#sendWhole(body, bytes);
    this.#cutWhenStalled();
  }

  /**
   * A small body goes out in one write with the header, as latin1. `end(body)` would send an empty piece after it, and
   * so a vector of two: an eighth of what a bare proxy costs altogether.
   */
  #sendWhole(body: Buffer | string, bytes: number): void {
    const response = this.#response;
    if (bytes === 0) response.end();
    else if (bytes > SINGLE_WRITE_BYTES) response.end(body);
    else {
      // Text with one byte for each character is ASCII: as latin1 it needs no look at each.
      if (typeof body === 'string') response.write(body, bytes === body.length ? 'latin1' : 'utf8');
      else response.write(body.toString('latin1'), 'latin1');
      response.socket?.uncork();
      response.end();
    }
  }

  start(status: number, headers: string[]): void {
    if (this.gone) return;
    // An answer before the request's end: where the next request begins is unknown (RFC 9110 §10.1.1).
    if (!this.#request.complete || mayBeFollowed(this.#request)) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(status, headers);
    // The answer may wait for its client for long: what the head said is not kept meanwhile.
    this.#request.rawHeaders = [];
    this.#request.url = '';
  }

  write(chunk: Buffer, from: ChunkSource | null = null): boolean {
    if (this.gone) return true;
    this.bytesOut += chunk.length;
    this.#unread += 1;
    const hasRoom = this.#response.write(chunk, (error) => {
      // Node also says that it is written of what a closing connection gave up; that memory is not used again.
      if (!error && !this.#request.socket.destroyed) from?.release(chunk);
      this.#unread -= 1;
      if (this.#unread > 0) return;
      if (!this.#response.writableEnded) cutWhenIdle(this.#request.socket, 0);
      this.drained();
    });
    if (hasRoom && this.#unread < MAX_UNREAD) return true;
    cutWhenIdle(this.#request.socket, this.limits.requestMs);
    return false;
  }

  end(): void {
    if (this.gone) return;
    this.#response.end();
    this.#cutWhenStalled();
  }

  abort(): void {
    const { socket, httpVersion } = this.#request;
    // An HTTP/1.0 answer may end with its connection: only a reset, or with TLS no close_notify, shows that it was cut.
    // Node never closes one that is reset while it ends.
    if (httpVersion === '1.0' && !(socket instanceof TLSSocket) && !socket.writableEnded) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Nobody else watches an answer that is written but not taken; it would count as in flight for ever. */
  #cutWhenStalled(): void {
    if (this.#response.writableLength === 0) return;
    cutWhenIdle(this.#request.socket, this.limits.requestMs);
    this.waitSoon();
  }
}
