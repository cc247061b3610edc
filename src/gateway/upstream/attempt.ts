import { commonHeaders } from '../answer.js';
import { onlyValueOf } from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import type { UpstreamReason } from '../refusals/reasons.js';
import type { End } from './addresses/failure.js';
import type { Places } from './addresses/share.js';
import { upstreamError, upstreamFailed, type Refusal } from '../refusal.js';
import { decodedBody, isError, LONGEST_ERROR, withoutBodyFields } from './error-body.js';
import { appendResponseHeaders, type FieldRules } from './headers.js';
import type { Controller, ResponseHandler, Unanswered } from './http1/transport.js';
import { meterOf } from './meter.js';

/** Responses up to this size are held until complete: if the upstream breaks off, they can still become a 502. */
const HELD_BYTES = LONGEST_ERROR;
/** Pieces held before they are joined: small ones in their own Buffers would take a hundred times their length. */
const MAX_HELD = 64;
/** Bodies up to this size are sent in one piece. */
const SINGLE_WRITE_BYTES = 16 * 1024;
/** How long the first part of a response waits for more, so that small ones in pieces are sent in one write. */
const GATHER_MS = 100;
/** Responses without an end, or read as they arrive: they are never delayed. */
const STREAM =
  /^(?:text\/event-stream|multipart\/x-mixed-replace|application\/(?:x-ndjson|jsonl|json-seq|stream\+json|grpc-web))/i;
const NOTHING = Buffer.alloc(0);

/** Called for a response of 400 or above that is not an Error. `body` is decoded if possible, truncated if too long. */
export type OnReplaced = (exchange: Admitted, status: number, contentType: string, body: Buffer) => void;

/** What an attempt reports about its response. */
interface Progress {
  /** Its head or a piece arrived, or the client took what was sent. */
  moved(): void;
  /** It is forwarded before it is known to be complete. @param isStream it has no end */
  passes(isStream: boolean): void;
}

/** Whether an upstream refuses the internal token. */
export interface TokenState {
  readonly refused: boolean;
  readonly set: (refused: boolean) => void;
}

/** How an upstream's responses are forwarded: their fields, and those of 400 or above that are not Errors. */
export interface ResponseRules extends FieldRules {
  readonly onReplaced: OnReplaced;
  /** State of the internal token; null if the gateway sends none. */
  readonly internalToken: TokenState | null;
}

/** One request on one connection, driven by the transport. Ends once, with `onEnd`, whatever the order of events. */
export class Attempt implements ResponseHandler {
  readonly #exchange: Admitted;
  readonly #onEnd: (end: End) => void;
  readonly #rules: ResponseRules;
  readonly #passesErrors: boolean;
  readonly #dispatch: (attempt: Attempt) => Controller | null;
  #controller: Controller | null = null;
  #ended = false;
  #status = 0;
  #headers: readonly string[] = [];
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** It is being forwarded as it arrives. */
  #passing = false;
  #gathering: NodeJS.Timeout | undefined;
  /** Whether it waits only for its client. */
  awaitsClient = false;
  progress: Progress | null = null;
  /** Called with a valid head. */
  onHead: (() => void) | null = null;
  /** The slots it occupies at its address. */
  places: Places | null = null;
  /** `performance.now()` when it got a connection; null before. */
  sentMs: number | null = null;

  /** @param dispatch hands it to its transport; null if the controller comes with the connection */
  constructor(
    exchange: Admitted,
    rules: ResponseRules,
    onEnd: (end: End) => void,
    dispatch: (attempt: Attempt) => Controller | null,
  ) {
    this.#exchange = exchange;
    this.#rules = rules;
    this.#passesErrors = rules.errors === 'pass';
    this.#onEnd = onEnd;
    this.#dispatch = dispatch;
  }

  start(): void {
    this.#controller = this.#dispatch(this);
  }

  stop(end: Refusal | 'answered' | 'withdrawn'): void {
    this.#finish(end);
    this.#controller?.abort();
  }

  withdraw(): void {
    if (this.sentMs === null) this.stop('withdrawn');
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.sentMs = performance.now();
    const { logEntry, operation } = this.#exchange;
    // From here on, the response says what the request cost.
    if (operation.metered !== null) logEntry.meter ??= meterOf(operation.metered.from);
    if (this.#ended) controller.abort();
  }

  onResponseStart(controller: Controller, status: number, headers: readonly string[]): void {
    if (this.#ended) return;
    const { internalToken: token } = this.#rules;
    if (token !== null && token.refused !== (status === 401)) token.set(status === 401);
    if (!respondsToClient(status, this.#passesErrors)) {
      this.#finish(this.#failed('status_refused'));
      controller.abort();
      return;
    }
    this.onHead?.();
    this.#exchange.logEntry.meter?.onHead(headers);
    this.#status = status;
    this.#headers = headers;
    if (!this.#mayReplace && this.#isStream()) this.#pass(true);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#ended) return;
    this.#exchange.logEntry.meter?.onData(chunk);
    if (!this.#passing && this.#heldBytes + chunk.length <= HELD_BYTES) {
      this.#held.push(chunk);
      if (this.#held.length > MAX_HELD) this.#held = [Buffer.concat(this.#held)];
      this.#heldBytes += chunk.length;
      return;
    }
    if (this.#mayReplace) {
      this.#replace(Buffer.concat([...this.#held, chunk]));
      controller.abort();
      return;
    }
    const { client } = this.#exchange;
    if (!this.#passing) this.#pass(false);
    if (client.write(chunk, controller)) return;
    this.awaitsClient = true;
    controller.pause();
    client.onDrain(() => {
      this.awaitsClient = false;
      if (this.#ended) return;
      this.progress?.moved();
      controller.resume();
    });
  }

  onResponsePart(): void {
    if (this.#ended) return;
    this.progress?.moved();
    if (this.#passing || this.#mayReplace || this.#exchange.operation.stream === false) return;
    this.#gathering ??= setTimeout(() => this.#pass(false), GATHER_MS);
  }

  onResponseEnd(): void {
    if (this.#ended) return;
    const { client } = this.#exchange;
    // Large pieces are sent as received: joining them would copy them again.
    if (!this.#passing && !this.#mayReplace && this.#heldBytes > SINGLE_WRITE_BYTES) this.#begin(true);
    if (this.#passing) client.end();
    else {
      const body = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
      if (this.#mayReplace && this.#replacesError(body)) return;
      client.send(this.#status, this.#answerHeaders(true), body);
    }
    this.#finish('answered');
  }

  onResponseError(what: Unanswered = this.sentMs === null ? 'not_sent' : 'sent'): void {
    if (typeof what === 'object') this.#finish(this.#failed(what.unreadable));
    else this.#finish(what !== 'sent' ? what : this.#status === 0 ? 'lost' : this.#failed('response_cut'));
  }

  #failed(reason: UpstreamReason): Refusal {
    return upstreamFailed(reason, this.#exchange.operation.upstream);
  }

  onFault(error: unknown): void {
    this.#finish({ fault: error as Error });
  }

  get #mayReplace(): boolean {
    return this.#status >= 400 && !this.#passesErrors;
  }

  #replacesError(body: Buffer): boolean {
    const received = this.#headers;
    const isHead = this.#exchange.method === 'HEAD';
    const decoded = isHead ? body : decodedBody(received, body);
    if (decoded !== null && isError(this.#status, received, isHead ? null : decoded)) return false;
    this.#replace(decoded ?? body);
    return true;
  }

  /** The client gets our own Error, without the fields that describe the replaced body. */
  #replace(body: Buffer): void {
    const [received, status, exchange] = [this.#headers, this.#status, this.#exchange];
    exchange.logEntry.meter?.onReplaced?.();
    const headers: string[] = [];
    appendResponseHeaders(headers, status, withoutBodyFields(status, received), exchange, this.#rules);
    this.#rules.onReplaced(exchange, status, onlyValueOf(received, 'content-type') ?? '', body);
    this.#finish(upstreamError(status, headers));
  }

  #isStream(): boolean {
    return this.#exchange.operation.stream ?? STREAM.test(onlyValueOf(this.#headers, 'content-type') ?? '');
  }

  /** Sends what has arrived, even if only the head, and then each piece as it arrives. */
  #pass(isStream: boolean): void {
    this.progress?.passes(isStream);
    const isHeadAlone = this.#held.length === 0;
    this.#begin(false);
    if (isHeadAlone) this.#exchange.client.write(NOTHING);
  }

  /** @param complete the whole body is held */
  #begin(complete: boolean): void {
    const { client } = this.#exchange;
    this.#passing = true;
    clearTimeout(this.#gathering);
    client.start(this.#status, this.#answerHeaders(complete));
    for (const chunk of this.#held) client.write(chunk, this.#controller);
    this.#held = [];
  }

  #answerHeaders(complete: boolean): string[] {
    const headers = commonHeaders(this.#exchange);
    const received = this.#headers;
    appendResponseHeaders(headers, this.#status, received, this.#exchange, this.#rules);
    const bodiless = this.#status === 204 || this.#status === 304 || this.#exchange.method === 'HEAD';
    if (complete && !bodiless && onlyValueOf(received, 'content-length') === null)
      headers.push('Content-Length', String(this.#heldBytes));
    return headers;
  }

  #finish(end: End): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#gathering);
    this.#onEnd(end);
  }
}

/**
 * 401, 403, 407 and 429 of an upstream are about the gateway, not the client. With `errors: pass` they are forwarded,
 * except 407, which belongs to proxies.
 */
function respondsToClient(status: number, passesErrors: boolean): boolean {
  if (status > 599 || status === 407) return false;
  return passesErrors || (status !== 401 && status !== 403 && status !== 429);
}
