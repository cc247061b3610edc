import { constants } from 'node:http2';
import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { ServedClient } from '../begin.js';
import type { EdgeLimits } from '../../config/settings.js';
import { REFUSALS } from '../../refusal.js';
import type { Refusal } from '../../refusal.js';
import { gatherBody, once } from '../body.js';
import { SLOW_MS } from '../http1/client.js';
import { HOP_BY_HOP, lowerName } from '../fields.js';
import type { Traffic } from '../traffic.js';

const { NGHTTP2_NO_ERROR } = constants;

/** An answer goes out in pieces of this size, one after the other: each one that was sent proves that its client is alive. */
const PIECE_BYTES = 16 * 1024;
/** Pieces that may wait before whoever writes is asked to wait as well. */
const MOST_PIECES = 4;

/** How a client's request is to be taken. */
interface StreamTerms {
  readonly traffic: Traffic;
  readonly limits: EdgeLimits;
  /** Its method is HEAD. */
  readonly headOnly: boolean;
  readonly expectsContinue: boolean;
}

/** The client's side of an exchange on one stream of HTTP/2. However it ends, the other streams of the connection go on. */
export class StreamClient implements ServedClient {
  gone = false;
  caller = '';
  state: ServedClient['state'] = 'active';
  bodyBytes = 0;
  started = false;
  bytesOut = 0;
  onClosed: () => void = () => undefined;
  /** The client went before its answer was whole, by its own doing. */
  left = false;
  /** What the client was answered. */
  status = 200;
  readonly #stream: ServerHttp2Stream;
  readonly #terms: StreamTerms;
  readonly #beganMs = performance.now();
  readonly #pieces: Buffer[] = [];
  /** Pieces taken so far. */
  #taken = 0;
  #writing = false;
  #leave: (() => void) | null = null;
  #drain: (() => void) | null = null;
  /** All of the answer was handed over. */
  #ended = false;
  /** The answer has no body, whatever is written. */
  #bodiless = false;
  /** It was the gateway that reset it. */
  #cut = false;
  #stall: NodeJS.Timeout | undefined;

  constructor(stream: ServerHttp2Stream, terms: StreamTerms) {
    this.#stream = stream;
    this.#terms = terms;
    stream.on('aborted', () => stream.destroy());
    stream.on('close', () => {
      clearTimeout(this.#stall);
      if (!this.#isWhole()) {
        this.gone = true;
        this.left = !this.#cut;
        this.#leave?.();
      }
      this.onClosed();
    });
  }

  /** Where the request came to its end before, the stream is closed with the last frame, and never tells that it finished. */
  #isWhole(): boolean {
    const { writableFinished, rstCode } = this.#stream;
    return this.#ended && this.#pieces.length === 0 && (writableFinished || rstCode === NGHTTP2_NO_ERROR);
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#leave = listener;
  }

  readBody(maxBytes: number): Promise<Buffer | Refusal | 'gone'> {
    const stream = this.#stream;
    const { expectsContinue, traffic, limits } = this.#terms;
    if (this.gone || stream.closed) return Promise.resolve('gone');
    if (stream.state.remoteClose !== 1 && !traffic.wait(this, limits)) return Promise.resolve(REFUSALS.overloaded);
    if (expectsContinue) stream.additionalHeaders({ ':status': 100 });
    return new Promise((resolve) => {
      const settle = once((result: Buffer | Refusal | 'gone') => {
        clearTimeout(deadline);
        resolve(traffic.resume(this, limits) || !Buffer.isBuffer(result) ? result : REFUSALS.overloaded);
      });
      const deadline = setTimeout(
        () => settle(REFUSALS.request_timeout),
        limits.requestMs - (performance.now() - this.#beganMs),
      );
      this.#leave = () => settle('gone');
      gatherBody(stream, maxBytes, (bytes) => traffic.hold(this, bytes, limits), settle);
    });
  }

  send(status: number, headers: string[], body: Buffer | string): void {
    if (this.gone) return;
    this.start(status, headers);
    this.#ended = true;
    this.write(typeof body === 'string' ? Buffer.from(body) : body);
    this.#close();
  }

  start(status: number, headers: string[]): void {
    // Reset, and the event for it is still to come.
    this.gone ||= this.#stream.closed;
    if (this.gone) return;
    this.started = true;
    this.status = status;
    this.#bodiless = this.#terms.headOnly || status === 204 || status === 205 || status === 304;
    this.#stream.respond(fieldsOf(status, headers), { endStream: this.#bodiless });
  }

  write(chunk: Buffer): boolean {
    if (this.gone || this.#bodiless) return true;
    this.bytesOut += chunk.length;
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) this.#pieces.push(chunk.subarray(at, at + PIECE_BYTES));
    this.#pump();
    return this.#pieces.length < MOST_PIECES;
  }

  onDrain(listener: () => void): void {
    this.#drain = listener;
  }

  end(): void {
    if (this.gone) return;
    this.#ended = true;
    this.#close();
  }

  /** Resets the stream with INTERNAL_ERROR. (Its `close` would first end it in order, as if the answer were whole.) */
  abort(): void {
    this.#cut = true;
    this.#stream.destroy(new Error('the answer broke off'));
  }

  /** Node would join what waits into one write, whose progress could not be seen. */
  #pump(): void {
    if (this.#writing || this.gone) return;
    const piece = this.#pieces.shift();
    if (piece === undefined) {
      if (this.#ended) this.#stream.end();
      return;
    }
    this.#writing = true;
    const taken = (): void => {
      this.#writing = false;
      this.#taken += 1;
      if (this.#pieces.length < MOST_PIECES) this.#resume();
      this.#pump();
    };
    // The last one takes the end along, in one frame.
    if (this.#ended && this.#pieces.length === 0) this.#stream.end(piece, taken);
    else this.#stream.write(piece, taken);
  }

  #resume(): void {
    const drain = this.#drain;
    this.#drain = null;
    drain?.();
  }

  /** All that is to be said has been written. */
  #close(): void {
    const stream = this.#stream;
    this.#pump();
    // What is left of the request nobody will read; the answer is whole all the same (RFC 9113 §8.1).
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.once('finish', () => stream.close(NGHTTP2_NO_ERROR));
    const taken = this.#taken;
    this.#stall = setTimeout(() => {
      if (this.#terms.traffic.wait(this, this.#terms.limits)) this.#cutWhenStalled(taken);
      else this.abort();
    }, SLOW_MS);
  }

  /** Nobody else watches an answer that is written but not taken; it would count as in flight for ever. */
  #cutWhenStalled(taken: number): void {
    this.#stall = setTimeout(() => {
      if (this.#taken > taken) this.#cutWhenStalled(this.#taken);
      else this.abort();
    }, this.#terms.limits.requestMs);
  }
}

/** The fields of an answer as node:http2 takes them. What belongs to a connection has no place there (RFC 9113 §8.2.2). */
function fieldsOf(status: number, flat: readonly string[]): OutgoingHttpHeaders {
  const fields = Object.assign(Object.create(null) as OutgoingHttpHeaders, { ':status': status });
  // A length that no body keeps to breaks the stream (RFC 9113 §8.1.1); HEAD and 304 may have one all the same.
  const mayHaveContent = status !== 204 && status !== 205;
  for (let index = 0; index < flat.length; index += 2) {
    const name = lowerName(flat[index]!);
    const value = flat[index + 1]!;
    const before = fields[name];
    if (HOP_BY_HOP.has(name) || (name === 'content-length' && !mayHaveContent)) continue;
    if (before === undefined) fields[name] = value;
    // The one field whose values can't be joined by commas (RFC 9110 §5.3).
    else if (name === 'set-cookie') fields[name] = [before, value].flat().map(String);
    else fields[name] = `${String(before)}, ${value}`;
  }
  return fields;
}
