import type { Body, ChunkSource } from '../exchange.js';

export interface OutgoingRequest {
  readonly method: string;
  /** Path and query, visible ASCII. */
  readonly target: string;
  /** Flat `[name, value, …]`, without Host, Connection and framing; values hold no control characters. */
  readonly headers: readonly string[];
  readonly body: Body | null;
  /** What Host says; null: the upstream's own. */
  readonly host: string | null;
}

/** Why a response could not be read. */
export type Unreadable =
  | 'not_http'
  | 'protocol_switched'
  | 'too_many_interim'
  | 'head_too_large'
  | 'too_many_fields'
  | 'line_end_invalid'
  | 'field_invalid'
  | 'content_length_twice'
  | 'content_length_invalid'
  | 'transfer_encoding_invalid'
  | 'length_and_encoding'
  | 'chunk_invalid';

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
