import type { Body, ChunkSource } from '../exchange.js';
import type { Unreadable } from '../reasons.js';

export interface OutgoingRequest {
  /** As X-Request-Id says it; left out where none is sent. */
  readonly id?: string;
  readonly method: string;
  /** Path and query, visible ASCII. */
  readonly target: string;
  /** Flat `[name, value, …]`, without Host, Connection and framing; values hold no control characters. */
  readonly headers: readonly string[];
  readonly body: Body | null;
  /** What Host says; null: the upstream's own. */
  readonly host: string | null;
}

/** What became of a request without a response: sent, and that broke; unreadable; or there was no connection. */
export type Unanswered = 'sent' | 'not_sent' | 'tls' | { readonly unreadable: Unreadable };

/** Steers one request that was dispatched. Once its answer ended, or it failed, it does nothing. */
export interface Controller extends ChunkSource {
  abort(): void;
  /** Reads no further of the answer, until `resume`. */
  pause(): void;
  resume(): void;
}

export interface ResponseHandler {
  /** It has a connection, and is written to it next. */
  onRequestStart(controller: Controller): void;
  /** The final status, from 200 on; header fields flat, names in lower case. */
  onResponseStart(controller: Controller, status: number, headers: readonly string[]): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  /** All that arrived was handed over, and the body goes on. */
  onResponsePart?(): void;
  onResponseEnd(): void;
  onResponseError(what: Unanswered): void;
  onFault(error: unknown): void;
}
