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
import type { Unanswered } from '../transport.js';
import { Upload } from './upload.js';

/** Bodies up to this size are worth copying beside their head: one write of one piece. */
const SINGLE_WRITE_BYTES = 16 * 1024;
/** A server that keeps idle connections so long drops ours before; a request on its way would meet that. */
const MARGIN_MS = 1000;

/** So long a new one may wait for its first request, however short idle ones are kept. */
const FRESH_MS = 1000;
/** A connection is used for so long, or half as much more: its name may stand for another address by then. */
const LIFETIME_MS = 60_000;
/** Ids of requests that a connection remembers: a response out of turn may be for one of these. */
const MAX_EARLIER = 8;
/** How long a server that answered early may take no more of the body, before the rest is cut off. */
const LINGER_MS = 2000;

/** Notified when a connection can take another request, could send nothing of one, and has closed. */
export interface Owner {
  readonly fixedLines: string;
  readonly prefix: string;
  onIdle(connection: Connection): void;
  onUnsent(request: UpstreamRequest): void;
  onGone(connection: Connection, socket: Socket): void;
}

/** How long it is used, and what it reads. */
interface Lasting {
  readonly idleMs: number;
  readonly lifetimeMs?: number;
  readonly responseLimits?: ResponseLimits;
}

export class Connection implements SocketReader {
  /** `performance.now()` when it is to be closed unless it is used. */
  expiresMs = 0;
  readonly #socket: Socket;
  readonly #owner: Owner;
  readonly #idleMs: number;
  readonly #lastMs: number;
  readonly #reader: ResponseReader;
  readonly #buffer = new ReadBuffer();
  #request: UpstreamRequest | null = null;
  /** How long it may be idle behind this answer. */
  #keepMs = 0;
  #paused = false;
  /** Whether the body of its request is a write of its own. */
  #hasLongBody = false;
  #isLast = false;
  /** Of a request whose body is still to come. */
  #upload: Upload | null = null;
  /** Ids of the requests before this one, the newest last. */
  readonly #earlier: string[] = [];
  readonly #isEncrypted: boolean;

  constructor(socket: Socket, owner: Owner, { idleMs, lifetimeMs = LIFETIME_MS, responseLimits }: Lasting) {
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

  /** Closed, or closing: its end is known a moment before its owner hears of it. */
  get isOver(): boolean {
    return this.#socket.destroyed;
  }

  /**
   * Writes a request, and reads the answer. Only while idle. A first write that fails at once, on a connection that its
   * server has reset, sent nothing: the request may go out on another one, whatever its method.
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
    // Who refuses a body wants no more of it (RFC 9112 §9.5).
    if (status >= 400) this.#upload?.stop();
    this.#request?.onHead(status, fields);
  }

  /**
   * Whether it says itself that it is the response to an earlier request: it came late, unasked, and after this one was
   * sent. What a cache kept says its age (RFC 9111 §5.1), and may be somebody else's.
   */
  #isOfEarlier(fields: readonly string[]): boolean {
    if (this.#earlier.length === 0) return false;
    const echoed = onlyValueOf(fields, 'x-request-id');
    if (echoed === null || echoed === this.#request?.outgoing.id) return false;
    return this.#earlier.includes(echoed) && onlyValueOf(fields, 'age') === null;
  }

  onBody(piece: Buffer): void {
    this.#request?.onBody(this.#buffer.keep(piece));
  }

  nextBuffer(): Buffer {
    return this.#buffer.next(this.#request !== null && this.#reader.isInBody);
  }

  onBytes(bytes: Buffer): void {
    // Nobody asked for anything.
    if (this.#request === null) {
      this.#socket.destroy();
      return;
    }
    this.#proceed(this.#reader.read(bytes));
  }

  /** A response that breaks off is lost, not malformed. */
  #onEnd(): void {
    if (this.#request !== null && this.#reader.finish() === 'done') this.#proceed('done');
    this.#socket.destroy();
    this.#fail();
  }

  #proceed(progress: Progress): void {
    if (progress === 'more') {
      if (this.#reader.isInBody) this.#request?.onPart();
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

  /** Of TLS Node says a turn later that something was written; an answer may come before. */
  #isSent(): boolean {
    return this.#socket.writableLength === 0 || (this.#isEncrypted && !this.#hasLongBody);
  }

  /** It was answered before its body was sent; the server may read on. */
  #endBehindBody(): void {
    this.#socket.setTimeout(LINGER_MS, () => void this.#socket.destroy());
    if (this.#paused) this.resume();
    this.#socket.destroySoon();
  }

  #release(nowMs: number): void {
    this.expiresMs = nowMs + this.#keepMs;
    // The one whose answer it was may have left it paused.
    if (this.#paused) this.resume();
    this.#owner.onIdle(this);
  }

  #returnUnsent(request: UpstreamRequest): void {
    this.#request = null;
    request.unsent();
    // Of a new one that ends before its first answer the next would do so, too.
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
