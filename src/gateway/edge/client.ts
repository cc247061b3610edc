import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Client } from '../exchange.js';
import type { Refusal } from '../refusal.js';
import { gatherBody } from './body.js';
import type { Ongoing } from './connection.js';

/** Bodies up to this size are worth copying beside their header. */
const JOINED_BYTES = 16 * 1024;

/** The client's side of an exchange over Node's HTTP/1.1 server. */
export class HttpClient implements Client, Ongoing {
  gone = false;
  bytesOut = 0;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #expectsContinue: boolean;
  readonly #stallMs: number;
  #leave: (() => void) | null = null;
  /** Set once the body is known never to come whole. */
  #broken: Refusal | null = null;
  #failBody: ((refusal: Refusal) => void) | null = null;
  #closing = false;

  /**
   * @param stallMs how long a client may take nothing of an answer that waits for it
   * @param onClosed called once, when the answer ended or the client left; always
   */
  constructor(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean, stallMs: number, onClosed: () => void) {
    this.#request = request;
    this.#response = response;
    this.#expectsContinue = expectsContinue;
    this.#stallMs = stallMs;
    response.on('close', () => {
      if (!response.writableFinished) this.leave();
      onClosed();
    });
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  /** Nothing more is to be told to this client. */
  leave(): void {
    this.gone = true;
    this.#leave?.();
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#leave = listener;
  }

  readBody(maxBytes: number): Promise<Buffer | Refusal | 'gone'> {
    const request = this.#request;
    if (this.#broken !== null) return Promise.resolve(this.#broken);
    if (this.gone) return Promise.resolve('gone');
    if (this.#expectsContinue) this.#response.writeContinue();
    return new Promise((resolve) => {
      this.#failBody = resolve;
      this.#leave = () => resolve('gone');
      gatherBody(request, maxBytes, resolve);
      request.on('error', () => resolve('gone'));
    });
  }

  /** The parser gave up on this connection: a body still on its way will not come. */
  breakOff(refusal: Refusal): void {
    if (!this.#request.complete) {
      this.#broken = refusal;
      this.#failBody?.(refusal);
    }
    this.closeAfter();
  }

  /** The connection ends after this answer. */
  closeAfter(): void {
    if (this.#closing) return;
    this.#closing = true;
    if (!this.#response.headersSent) this.#response.shouldKeepAlive = false;
    else this.#response.once('finish', () => this.#request.socket.destroySoon());
  }

  send(status: number, headers: string[], body: Buffer | string): void {
    if (this.gone) return;
    this.start(status, headers);
    this.bytesOut += typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    this.#sendWhole(body);
    this.#cutWhenStalled();
  }

  /**
   * A small body goes out in one write with the header, as latin1 text. `end(body)` would send an empty
   * piece after it, and so a vector of two: an eighth of what a bare proxy costs altogether.
   */
  #sendWhole(body: Buffer | string): void {
    const response = this.#response;
    if (body.length === 0) response.end();
    else if (body.length > JOINED_BYTES) response.end(body);
    else {
      if (typeof body === 'string') response.write(body);
      else response.write(body.toString('latin1'), 'latin1');
      response.socket?.uncork();
      response.end();
    }
  }

  start(status: number, headers: string[]): void {
    if (this.gone) return;
    // An answer before the request's end: where the next request begins is anybody's guess (RFC 9110 §10.1.1).
    if (!this.#request.complete) this.#response.shouldKeepAlive = false;
    this.#response.writeHead(status, headers);
    // The answer may wait for its client for long: what the head said is not kept meanwhile.
    this.#request.rawHeaders = [];
    this.#request.url = '';
  }

  write(chunk: Buffer): boolean {
    if (this.gone) return true;
    this.bytesOut += chunk.length;
    return this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#request.socket.once('drain', listener);
  }

  end(): void {
    if (this.gone) return;
    this.#response.end();
    this.#cutWhenStalled();
  }

  abort(): void {
    const { socket, httpVersion } = this.#request;
    // An HTTP/1.0 answer may end with its connection: there only a reset tells that it broke. With TLS the missing close_notify does.
    if (httpVersion === '1.0' && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** Nobody else watches an answer that is written but not taken; it would count as in flight for ever. */
  #cutWhenStalled(): void {
    if (this.#response.writableLength > 0) this.#request.socket.setTimeout(this.#stallMs);
  }
}
