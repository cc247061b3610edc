import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { EdgeLimits } from '../../config/schema/limits.js';
import type { ChunkSource } from '../../exchange.js';
import type { Refusal } from '../../refusal.js';
import { ServedClient } from '../client.js';
import type { Traffic } from '../traffic.js';
import { beginNext, cutWhenIdle, type Ongoing } from './connection.js';
import { mayBeFollowed } from './request.js';

/** Bodies up to this size are copied into one write with their head. */
const SINGLE_WRITE_BYTES = 16 * 1024;

/** Maximum pieces waiting to be written, however short: Node's record of each is a hundred times a short one. */
const MAX_UNREAD = 64;

export class HttpClient extends ServedClient implements Ongoing {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #expectsContinue: boolean;
  /** Pieces of the response that the connection has not taken. */
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

  /** Begins the next request on the connection. */
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

  /** Nothing to do: Node still times the request as a whole, but `broken.ts` ignores that. */
  protected beginRest(): void {}

  protected endedWhole(): boolean {
    return this.#request.complete;
  }

  /** The parser gave up on this connection: the remainder of a body will not arrive. */
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
   * Sends a small body in one write with the head, as latin1. `end(body)` would add an empty piece, and so make it a
   * vectored write, which costs an eighth of a bare proxy's total.
   */
  #sendWhole(body: Buffer | string, bytes: number): void {
    const response = this.#response;
    if (bytes === 0) response.end();
    else if (bytes > SINGLE_WRITE_BYTES) response.end(body);
    else {
      // Text with one byte per character is ASCII: as latin1, its characters need not be examined.
      if (typeof body === 'string') response.write(body, bytes === body.length ? 'latin1' : 'utf8');
      else response.write(body.toString('latin1'), 'latin1');
      response.socket?.uncork();
      response.end();
    }
  }

  start(status: number, headers: string[]): void {
    if (this.gone) return;
    // With a response before the request's end, it is unknown where the next request begins (RFC 9110 §10.1.1).
    if (!this.#request.complete || mayBeFollowed(this.#request)) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(status, headers);
    // The response may wait a long time for its client: do not keep the request's head meanwhile.
    this.#request.rawHeaders = [];
    this.#request.url = '';
  }

  write(chunk: Buffer, from: ChunkSource | null = null): boolean {
    if (this.gone) return true;
    this.bytesOut += chunk.length;
    this.#unread += 1;
    const hasRoom = this.#response.write(chunk, (error) => {
      // Node also reports as written what a closing connection discarded; that memory is not reused.
      if (!error && !this.#request.socket.destroyed) from?.release(chunk);
      this.#unread -= 1;
      if (this.#unread > 0) return;
      if (!this.#response.writableEnded) cutWhenIdle(this.#request.socket, 0);
      this.drained();
    });
    if (hasRoom && this.#unread < MAX_UNREAD) return true;
    cutWhenIdle(this.#request.socket, this.limits.request_time);
    return false;
  }

  end(): void {
    if (this.gone) return;
    this.#response.end();
    this.#cutWhenStalled();
  }

  abort(): void {
    const { socket, httpVersion } = this.#request;
    // An HTTP/1.0 response may end with its connection: only a reset, or with TLS a missing close_notify, shows that it
    // was cut. Node never closes a socket that is reset while it ends.
    if (httpVersion === '1.0' && !(socket instanceof TLSSocket) && !socket.writableEnded) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Times a response that is written but not taken: otherwise it could count as in flight permanently. */
  #cutWhenStalled(): void {
    if (this.#response.writableLength === 0) return;
    cutWhenIdle(this.#request.socket, this.limits.request_time);
    this.waitSoon();
  }
}
