import type { Socket } from 'node:net';
import type { SocketReader } from './dial.js';
import { ReadBuffer } from './read-buffer.js';
import { ResponseReader } from './reader.js';
import type { Progress } from './reader.js';
import { requestHead } from './request-head.js';
import type { UpstreamRequest } from './request.js';
import type { ResponseHead } from './response-head.js';

/** Bodies up to this size are worth copying beside their head: one write of one piece. */
const JOINED_BYTES = 16 * 1024;
/** A server that keeps idle connections so long drops ours before; a request on its way would meet that. */
const MARGIN_MS = 1000;

/** How long requests wait behind another on a connection before they are sent on others of their own. */
const LATE_MS = 20;

const NOBODY: UpstreamRequest[] = [];

/** Notified when a connection can take more requests, which ones it returns unanswered, and when it has closed. */
export interface Owner {
  readonly fixedLines: string;
  onIdle(connection: Connection): void;
  onReturned(requests: readonly UpstreamRequest[]): void;
  onGone(connection: Connection, socket: Socket): void;
}

/**
 * One connection to an upstream that is open. It carries one request, or some that go out in one write
 * and are answered in their order (RFC 9112 §9.3.2): a write and a wake-up of the upstream for all of
 * them. Whatever holds up the first gives the others back.
 */
export class Connection implements SocketReader {
  /** `performance.now()` when it is to be closed unless it is used. */
  expiresMs = 0;
  readonly #socket: Socket;
  readonly #owner: Owner;
  readonly #idleMs: number;
  readonly #reader = new ResponseReader(this);
  readonly #buffer = new ReadBuffer();
  #request: UpstreamRequest | null = null;
  /** Sent behind it. */
  #behind = NOBODY;
  #late: NodeJS.Timeout | null = null;
  /** Answers are still to come that nobody waits for. */
  #spoilt = false;
  /** Of its answer nothing has come, after another's came whole. */
  #follows = false;
  /** How long it may be idle behind this answer. */
  #keepMs = 0;
  #paused = false;

  /** @param idleMs how long it may be idle at most */
  constructor(socket: Socket, owner: Owner, idleMs: number) {
    this.#socket = socket;
    this.#owner = owner;
    this.#idleMs = idleMs;
    this.expiresMs = performance.now() + idleMs;
    socket.on('end', () => this.#onEnd());
    socket.on('close', () => {
      owner.onGone(this, socket);
      this.#fail();
    });
  }

  /** Writes a request, and reads the answer. Only while it is idle. */
  send(request: UpstreamRequest): void {
    this.#request = request;
    if (!request.begin(this)) return;
    const { method, body } = request.outgoing;
    this.#reader.expect(method);
    const head = requestHead(request.outgoing, this.#owner.fixedLines);
    if (body === null || body.length === 0) this.#socket.write(head, 'latin1');
    else if (body.length <= JOINED_BYTES) this.#socket.write(head + body.toString('latin1'), 'latin1');
    else {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
    }
  }

  /** Writes requests without a body, two at least, in one piece. Only while it is idle. */
  sendAll(requests: UpstreamRequest[]): void {
    const all = requests.filter((request) => request.begin(this));
    if (this.#socket.destroyed) {
      this.#owner.onReturned(all);
      return;
    }
    let heads = '';
    for (const { outgoing } of all) heads += requestHead(outgoing, this.#owner.fixedLines);
    this.#request = all.shift()!;
    this.#behind = all;
    this.#reader.expect(this.#request.outgoing.method);
    this.#late = setTimeout(() => this.#giveBack(), LATE_MS);
    this.#socket.write(heads, 'latin1');
  }

  /** Closes it at once; the handlers of its requests are not notified. */
  destroy(): void {
    this.#request = null;
    this.#socket.destroy();
  }

  /** One that it carries is not wanted any more. */
  abort(request: UpstreamRequest): void {
    this.#giveBack();
    if (request === this.#request || this.#request === null) this.destroy();
  }

  pause(): void {
    this.#giveBack();
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  onHead({ status, fields, keepAlive, keepAliveMs }: ResponseHead): void {
    this.#follows = false;
    this.#keepMs = keepAlive ? Math.min(this.#idleMs, keepAliveMs - MARGIN_MS) : 0;
    this.#request?.onHead(status, fields);
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
    let progress = this.#reader.read(bytes);
    while (progress === 'surplus' && this.#next()) progress = this.#reader.read(bytes, this.#reader.end);
    if (progress !== 'done' || !this.#next()) this.#proceed(progress);
  }

  /** The first has its answer: now that of the one behind it. False: there is none, or its answer can't be had here. */
  #next(): boolean {
    if (this.#behind.length === 0 || this.#keepMs <= 0) return false;
    const request = this.#request;
    this.#request = this.#behind.shift()!;
    this.#follows = true;
    if (this.#behind.length === 0) this.#stopClock();
    this.#reader.expect(this.#request.outgoing.method);
    request?.end();
    return true;
  }

  #onEnd(): void {
    if (this.#request !== null) this.#proceed(this.#reader.finish());
    this.#socket.destroy();
  }

  #proceed(progress: Progress): void {
    if (progress === 'more') return;
    if (progress === 'malformed') {
      this.#socket.destroy();
      this.#fail();
      return;
    }
    const request = this.#request;
    this.#request = null;
    this.#giveBack();
    if (progress === 'surplus' || !this.#isReusable()) this.#socket.destroy();
    else this.#release();
    request?.end();
  }

  #isReusable(): boolean {
    return !this.#spoilt && this.#keepMs > 0 && this.#socket.writableLength === 0 && !this.#socket.destroyed;
  }

  #release(): void {
    this.expiresMs = performance.now() + this.#keepMs;
    // The one whose answer it was may have left it paused.
    if (this.#paused) this.resume();
    this.#owner.onIdle(this);
  }

  /** One that another's answer went before is sent once more: the server may end a connection after any answer. */
  #fail(): void {
    const request = this.#request;
    this.#request = null;
    if (this.#follows && request !== null) this.#behind = [request, ...this.#behind];
    this.#giveBack();
    if (!this.#follows) request?.fail();
  }

  /** Those behind the first are sent elsewhere, and this connection ends with the answer of the first. */
  #giveBack(): void {
    if (this.#behind.length === 0) return;
    const behind = this.#behind;
    this.#behind = NOBODY;
    this.#spoilt = true;
    this.#stopClock();
    this.#owner.onReturned(behind);
  }

  #stopClock(): void {
    if (this.#late !== null) clearTimeout(this.#late);
    this.#late = null;
  }
}
