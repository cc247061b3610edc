import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onlyValueOf } from '../../edge/fields.js';
import type { Body } from '../../exchange.js';
import type { SocketReader } from './dial.js';
import { ReadBuffer } from './read-buffer.js';
import { ResponseReader, type Progress } from './reader.js';
import { endsConnection, requestHead } from './request-head.js';
import type { UpstreamRequest } from './request.js';
import type { ResponseHead, ResponseLimits } from './response-head.js';
import type { Unanswered } from './transport.js';
import { Upload } from './upload.js';

/** Bodies up to this size are copied into one write with their head. */
const SINGLE_WRITE_BYTES = 16 * 1024;
/** Idle connections are dropped this long before the server closes them: a request sent then would be lost. */
const MARGIN_MS = 1000;

/** Minimum time a new connection waits for its first request, even if idle ones are kept for less. */
const FRESH_MS = 1000;
/** A connection is used for this long, plus up to 50 %: its host name may resolve to another address by then. */
const LIFETIME_MS = 60_000;
/** Request IDs that a connection remembers: a response out of turn may be for one of these. */
const MAX_EARLIER = 8;
/** After an early response, how long the server may take nothing of the body before the connection is cut. */
const LINGER_MS = 2000;

/** Notified when a connection can take another request, could send nothing of one, or has closed. */
export interface Owner {
  readonly fixedLines: string;
  readonly prefix: string;
  onIdle(connection: Connection): void;
  onUnsent(request: UpstreamRequest): void;
  onGone(connection: Connection, socket: Socket): void;
}

/** How long a connection is kept, and limits for its responses. */
interface ConnectionOptions {
  readonly idleMs: number;
  readonly lifetimeMs?: number;
  readonly responseLimits?: ResponseLimits;
}

export class Connection implements SocketReader {
  /** `performance.now()` at which it is closed, unless it is used before. */
  expiresMs = 0;
  readonly #socket: Socket;
  readonly #owner: Owner;
  readonly #idleMs: number;
  readonly #lastMs: number;
  readonly #reader: ResponseReader;
  readonly #buffer = new ReadBuffer();
  #request: UpstreamRequest | null = null;
  /** How long it may be idle after this response; 0 or less: it is not reused. */
  #keepMs = 0;
  #paused = false;
  /** Whether the body of its request is written separately from the head. */
  #hasLongBody = false;
  #isLast = false;
  /** Sends a body that is still arriving; null for all others. */
  #upload: Upload | null = null;
  /** IDs of the previous requests, newest last. */
  readonly #earlier: string[] = [];
  readonly #isEncrypted: boolean;

  constructor(socket: Socket, owner: Owner, { idleMs, lifetimeMs = LIFETIME_MS, responseLimits }: ConnectionOptions) {
    this.#reader = new ResponseReader(this, responseLimits);
    this.#socket = socket;
    this.#isEncrypted = socket instanceof TLSSocket;
    this.#owner = owner;
    this.#idleMs = idleMs;
    this.expiresMs = performance.now() + Math.max(idleMs, FRESH_MS);
    this.#lastMs = performance.now() + lifetimeMs * (1 + Math.random() / 2);
    socket.on('end', () => this.#onEnd());
    socket.on('close', () => {
      owner.onGone(this, socket);
      this.#fail();
    });
  }

  /** Closed or closing: true a moment before its owner is notified. */
  get isOver(): boolean {
    return this.#socket.destroyed;
  }

  /**
   * Writes a request and reads its response; call it only while idle. If the first write fails immediately because the
   * server has reset the connection, nothing was sent: the request may use another connection, whatever its method.
   */
  send(request: UpstreamRequest): void {
    this.#request = request;
    if (!request.begin(this)) return;
    const { method, body } = request.outgoing;
    this.#reader.expect(method);
    this.#isLast = endsConnection(request.outgoing);
    const head = requestHead(request.outgoing, this.#owner);
    const isOneWrite = body !== null && body.rest === null && body.bytes.length <= SINGLE_WRITE_BYTES;
    this.#hasLongBody = body !== null && !isOneWrite;
    this.#socket.write(isOneWrite ? head + body.bytes.toString('latin1') : head, 'latin1');
    if (this.#socket.errored !== null) this.#returnUnsent(request);
    else if (this.#hasLongBody) this.#sendLong(body!);
  }

  #sendLong({ bytes, rest }: Body): void {
    if (rest === null) this.#socket.write(bytes);
    else {
      this.#upload = new Upload(this.#socket, rest);
      this.#upload.begin(bytes);
    }
  }

  destroy(): void {
    this.#request = null;
    this.#upload?.stop();
    this.#socket.destroy();
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  onHead({ status, fields, keepAlive, keepAliveMs }: ResponseHead): void {
    if (this.#isOfEarlier(fields)) {
      this.#socket.destroy();
      this.#fail({ unreadable: 'other_request' });
      return;
    }
    this.#keepMs = keepAlive ? Math.min(this.#idleMs, keepAliveMs - MARGIN_MS) : 0;
    // A server that refuses a request wants no more of its body (RFC 9112 §9.5).
    if (status >= 400) this.#upload?.stop();
    const request = this.#request;
    request?.handler.onResponseStart(request, status, fields);
  }

  /**
   * Whether the response echoes the X-Request-Id of an earlier request: it arrived late, after this request was sent. A
   * response with Age comes from a cache (RFC 9111 §5.1), and may echo the ID of any request.
   */
  #isOfEarlier(fields: readonly string[]): boolean {
    if (this.#earlier.length === 0) return false;
    const echoed = onlyValueOf(fields, 'x-request-id');
    if (echoed === null || echoed === this.#request?.outgoing.id) return false;
    return this.#earlier.includes(echoed) && onlyValueOf(fields, 'age') === null;
  }

  onBody(piece: Buffer): void {
    const request = this.#request;
    request?.handler.onResponseData(request, this.#buffer.keep(piece));
  }

  nextBuffer(): Buffer {
    return this.#buffer.next(this.#request !== null && this.#reader.isInBody);
  }

  onBytes(bytes: Buffer): void {
    // Unsolicited bytes.
    if (this.#request === null) {
      this.#socket.destroy();
      return;
    }
    this.#proceed(this.#reader.read(bytes));
  }

  /** Handles the server's FIN. A response that it cuts short is lost, not malformed. */
  #onEnd(): void {
    if (this.#request !== null && this.#reader.finish() === 'done') this.#proceed('done');
    this.#socket.destroy();
    this.#fail();
  }

  #proceed(progress: Progress): void {
    if (progress === 'more') {
      if (this.#reader.isInBody) this.#request?.handler.onResponsePart?.();
      return;
    }
    if (progress === 'malformed') {
      this.#socket.destroy();
      this.#fail({ unreadable: this.#reader.unreadable });
      return;
    }
    const request = this.#request;
    this.#request = null;
    if (request?.outgoing.id !== undefined) this.#earlier.push(request.outgoing.id);
    if (this.#earlier.length > MAX_EARLIER) this.#earlier.shift();
    const isSent = this.#upload === null || this.#upload.isSent;
    this.#upload?.stop();
    this.#upload = null;
    const nowMs = performance.now();
    if (progress === 'done' && isSent && this.#isReusable(nowMs)) this.#release(nowMs);
    else if (progress === 'done' && isSent && this.#socket.writableLength > 0) this.#endBehindBody();
    else this.#socket.destroy();
    request?.end();
  }

  #isReusable(nowMs: number): boolean {
    return this.#keepMs > 0 && !this.#isLast && nowMs < this.#lastMs && this.#isSent() && !this.#socket.destroyed;
  }

  /** With TLS, Node reports a write one event loop turn late; the response may arrive before that. */
  #isSent(): boolean {
    return this.#socket.writableLength === 0 || (this.#isEncrypted && !this.#hasLongBody);
  }

  /** For a response that came before its request's body was written: the server may still read it. */
  #endBehindBody(): void {
    this.#socket.setTimeout(LINGER_MS, () => void this.#socket.destroy());
    if (this.#paused) this.resume();
    this.#socket.destroySoon();
  }

  #release(nowMs: number): void {
    this.expiresMs = nowMs + this.#keepMs;
    // The previous exchange may have left it paused.
    if (this.#paused) this.resume();
    this.#owner.onIdle(this);
  }

  #returnUnsent(request: UpstreamRequest): void {
    this.#request = null;
    request.unsent();
    // If a new connection ends before its first response, the next one would too.
    if (this.#keepMs > 0) this.#owner.onUnsent(request);
    else request.fail();
  }

  #fail(why?: Unanswered): void {
    const request = this.#request;
    this.#request = null;
    request?.fail(why);
    this.#upload?.stop();
  }
}
