import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { EdgeLimits } from '../../config/schema/limits.js';
import { REFUSALS } from '../../refusal.js';
import { ServedClient } from '../client.js';
import { HOP_BY_HOP, lowerName } from '../fields.js';
import type { Traffic } from '../traffic.js';

const { NGHTTP2_NO_ERROR } = constants;

/** Responses are sent in pieces of this size: each one that is accepted proves that the client is alive. */
const PIECE_BYTES = 16 * 1024;
/** Pieces that may be queued before the writer must pause. */
const MAX_PIECES = 4;

type StreamTerms = Readonly<Record<'headOnly' | 'expectsContinue', boolean>>;

/** The client's side of an exchange on one stream of HTTP/2. However it ends, the other streams continue. */
export class StreamClient extends ServedClient {
  started = false;
  /** The client left before its response was complete. */
  left = false;
  status = 200;
  readonly isEncrypted = true;
  readonly #stream: ServerHttp2Stream;
  readonly #terms: StreamTerms;
  readonly #beganMs = performance.now();
  readonly #pieces: Buffer[] = [];
  #taken = 0;
  #writing = false;
  /** The whole response was handed over. */
  #ended = false;
  /** The response has no body, whatever is written. */
  #bodiless = false;
  /** The gateway reset the stream. */
  #cut = false;
  #stall: NodeJS.Timeout | undefined;
  #bodyDeadline: NodeJS.Timeout | undefined;

  constructor(stream: ServerHttp2Stream, terms: StreamTerms, traffic: Traffic, limits: EdgeLimits) {
    super(stream, traffic, limits);
    this.#stream = stream;
    this.#terms = terms;
    stream.on('aborted', () => stream.destroy());
    stream.on('close', () => {
      clearTimeout(this.#stall);
      clearTimeout(this.#bodyDeadline);
      if (!this.#hasAnswer()) {
        this.left = !this.#cut;
        this.leave();
      }
      this.closed();
    });
  }

  get peerAddress(): string | undefined {
    return this.#stream.session?.socket.remoteAddress;
  }

  /** If the request has ended before, the stream closes with the last frame and never reports that it finished. */
  #hasAnswer(): boolean {
    const { writableFinished, rstCode } = this.#stream;
    return this.#ended && this.#pieces.length === 0 && (writableFinished || rstCode === NGHTTP2_NO_ERROR);
  }

  protected isWhole(): boolean {
    return this.#stream.state.remoteClose === 1;
  }

  protected beginBody(): void {
    const leftMs = this.limits.request_time - (performance.now() - this.#beganMs);
    this.#bodyDeadline = setTimeout(() => this.breakBody(REFUSALS.request_timeout), leftMs);
    if (this.#terms.expectsContinue) this.#stream.additionalHeaders({ ':status': 100 });
  }

  protected beginRest(): void {
    clearTimeout(this.#bodyDeadline);
  }

  /** A stream that is reset ends as well. */
  protected endedWhole(): boolean {
    return !this.#stream.closed;
  }

  override readBody(declared: number | null, maxBytes: number): ReturnType<ServedClient['readBody']> {
    return this.#stream.closed ? Promise.resolve('gone') : super.readBody(declared, maxBytes);
  }

  send(status: number, headers: string[], body: Buffer | string): void {
    if (this.gone) return;
    this.start(status, headers);
    this.#ended = true;
    this.write(typeof body === 'string' ? Buffer.from(body) : body);
    this.#close();
  }

  start(status: number, headers: string[]): void {
    // It is reset, and the event for that is pending.
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
    if (this.#pieces.length < MAX_PIECES) return true;
    this.#cutWhenStalled(this.#taken);
    return false;
  }

  end(): void {
    if (this.gone) return;
    this.#ended = true;
    this.#close();
  }

  /** Resets the stream with INTERNAL_ERROR: its `close` would first end it, as if the response were complete. */
  abort(): void {
    this.#cut = true;
    this.#stream.destroy(new Error('the answer broke off'));
  }

  /** Node would join queued pieces into one write, whose progress could not be observed. */
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
      if (this.#pieces.length < MAX_PIECES) {
        if (!this.#ended) clearTimeout(this.#stall);
        this.drained();
      }
      this.#pump();
    };
    // The last piece and the end are one frame.
    if (this.#ended && this.#pieces.length === 0) this.#stream.end(piece, taken);
    else this.#stream.write(piece, taken);
  }

  #close(): void {
    const stream = this.#stream;
    this.#pump();
    // The rest of the request is not read; the response is complete (RFC 9113 §8.1).
    if (!stream.endAfterHeaders && !stream.readableEnded) stream.once('finish', () => stream.close(NGHTTP2_NO_ERROR));
    const taken = this.#taken;
    this.waitSoon(() => this.#cutWhenStalled(taken));
  }

  /** Without this, a response that the client does not read would count as in flight permanently. */
  #cutWhenStalled(taken: number): void {
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => {
      if (this.#taken > taken) this.#cutWhenStalled(this.#taken);
      else this.abort();
    }, this.limits.request_time);
  }
}

/** Returns the fields of a response for node:http2, without those of a connection (RFC 9113 §8.2.2). */
function fieldsOf(status: number, flat: readonly string[]): OutgoingHttpHeaders {
  const fields = Object.assign(Object.create(null) as OutgoingHttpHeaders, { ':status': status });
  // A wrong length breaks the stream (RFC 9113 §8.1.1); HEAD and 304 may have one without a body.
  const mayHaveContent = status !== 204 && status !== 205;
  for (let index = 0; index < flat.length; index += 2) {
    const name = lowerName(flat[index]!);
    const value = flat[index + 1]!;
    const before = fields[name];
    if (HOP_BY_HOP.has(name) || (name === 'content-length' && !mayHaveContent)) continue;
    if (before === undefined) fields[name] = value;
    // The only field whose values can't be joined by commas (RFC 9110 §5.3).
    else if (name === 'set-cookie') fields[name] = [before, value].flat().map(String);
    else fields[name] = `${String(before)}, ${value}`;
  }
  return fields;
}
