import { complete } from './completed.js';
import { release } from './read-buffer.js';
import type { Controller, OutgoingRequest, ResponseHandler, Unanswered } from './transport.js';

interface Carrier {
  destroy(): void;
  pause(): void;
  resume(): void;
}

/** A dispatched request, from the queue to the end of its response. */
export class UpstreamRequest implements Controller {
  readonly outgoing: OutgoingRequest;
  readonly handler: ResponseHandler;
  readonly #unqueue: (request: UpstreamRequest) => void;
  #connection: Carrier | null = null;
  #ended = false;

  constructor(outgoing: OutgoingRequest, handler: ResponseHandler, unqueue: (request: UpstreamRequest) => void) {
    this.outgoing = outgoing;
    this.handler = handler;
    this.#unqueue = unqueue;
  }

  abort(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#connection === null) this.#unqueue(this);
    else this.#connection.destroy();
  }

  pause(): void {
    if (!this.#ended) this.#connection?.pause();
  }

  resume(): void {
    if (!this.#ended) this.#connection?.resume();
  }

  release(chunk: Buffer): void {
    release(chunk);
  }

  /** Called when it has a connection. Returns false if it was aborted. */
  begin(connection: Carrier): boolean {
    this.#connection = connection;
    this.handler.onRequestStart(this);
    return !this.#ended;
  }

  /** Called when nothing was sent on the connection it had. */
  unsent(): void {
    this.#connection = null;
  }

  end(): void {
    this.#ended = true;
    complete(this.handler);
  }

  /** @param why by default `sent` if it had a connection, otherwise `not_sent` */
  fail(why: Unanswered = this.#connection === null ? 'not_sent' : 'sent'): void {
    if (this.#ended) return;
    this.#ended = true;
    this.handler.onResponseError(why);
  }
}
