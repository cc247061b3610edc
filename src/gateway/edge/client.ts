import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '../exchange.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { Connection } from './connection.js';

/** Bodies up to this size are worth copying beside their header. */
const JOINED_BYTES = 16 * 1024;

/** The client's side of an exchange over Node's HTTP/1.1 server. */
export class HttpClient implements Client {
  gone = false;
  bytesOut = 0;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #expectsContinue: boolean;
  #leave: (() => void) | null = null;
  /** Set once the body is known never to come whole. */
  #broken: Refusal | null = null;
  #failBody: ((refusal: Refusal) => void) | null = null;

  /**
   * @param onClosed called once, when the answer ended or the client left; always
   */
  constructor(request: IncomingMessage, response: ServerResponse, connection: Connection, expectsContinue: boolean, onClosed: () => void) {
    this.#request = request;
    this.#response = response;
    this.#expectsContinue = expectsContinue;
    response.on('close', () => {
      if (connection.latest === this) connection.latest = null;
      if (!response.writableFinished) {
        this.gone = true;
        this.#leave?.();
      }
      onClosed();
    });
  }

  get started(): boolean {
    return this.#response.headersSent;
  }

  get status(): number {
    return this.#response.statusCode;
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#leave = listener;
  }

  readBody(maxBytes: number): Promise<Buffer | Refusal | 'gone'> {
    const request = this.#request;
    if (this.#broken !== null) return Promise.resolve(this.#broken);
    if (this.#expectsContinue) this.#response.writeContinue();
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      this.#failBody = resolve;
      this.#leave = () => resolve('gone');
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) resolve(REFUSALS.body_too_large);
        else chunks.push(chunk);
      });
      request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
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
    if (!this.#response.headersSent) this.#response.shouldKeepAlive = false;
    else this.#response.once('close', () => this.#request.socket.destroySoon());
  }

  send(status: number, headers: string[], body: Buffer | string): void {
    if (this.gone) return;
    this.#response.writeHead(status, headers);
    if (typeof body === 'string') {
      this.bytesOut += Buffer.byteLength(body);
      this.#response.end(body);
      return;
    }
    this.bytesOut += body.length;
    // As latin1 text a small body goes out in one piece with the header: one write instead of a vector of two.
    if (body.length <= JOINED_BYTES) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end(body);
  }

  start(status: number, headers: string[]): void {
    if (!this.gone) this.#response.writeHead(status, headers);
  }

  write(chunk: Buffer): boolean {
    if (this.gone) return true;
    this.bytesOut += chunk.length;
    return this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#response.once('drain', listener);
  }

  end(): void {
    if (!this.gone) this.#response.end();
  }

  abort(): void {
    this.#request.socket.destroy();
  }
}
