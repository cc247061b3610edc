import type { Body, ChunkSource } from '../../exchange.js';
import type { Unreadable } from '../../refusals/reasons.js';

export interface OutgoingRequest {
  /** The X-Request-Id; absent if none is sent. */
  readonly id?: string;
  readonly method: string;
  /** Path and query, visible ASCII. */
  readonly target: string;
  /** Flat `[name, value, …]`, without Host, Connection and framing; values hold no control characters. */
  readonly headers: readonly string[];
  readonly body: Body | null;
  /** The value of Host; null for the upstream's own. */
  readonly host: string | null;
}

/** Why there is no response: the connection broke after sending; no connection; no TLS; a malformed response. */
export type Unanswered = 'sent' | 'not_sent' | 'tls' | { readonly unreadable: Unreadable };

/** Controls a dispatched request. Does nothing once the response has ended or failed. */
export interface Controller extends ChunkSource {
  abort(): void;
  /** Stops reading the response until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ResponseHandler {
  /** It has a connection and is about to be sent. */
  onRequestStart(controller: Controller): void;
  /** The final status, from 200 on; header fields flat, names in lower case. */
  onResponseStart(controller: Controller, status: number, headers: readonly string[]): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  /** Everything received so far was passed on, and the body continues. */
  onResponsePart?(): void;
  onResponseEnd(): void;
  onResponseError(what: Unanswered): void;
  onFault(error: unknown): void;
}
