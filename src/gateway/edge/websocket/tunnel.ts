import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { EdgeLimits } from '../../config/schema/limits.js';
import type { Tunnel, TunnelClose } from '../../exchange.js';

/** How long a client that half-closed may take to read the rest. */
const FAREWELL_MS = 2000;

/**
 * The client's end of a tunnel: its socket once `open`; before that a placeholder, so that another attempt can follow a
 * failed one. Both ending and destroying it send the client everything written before, then close; destroying also
 * stops reading from both sides.
 */
export class TunnelEnd extends Duplex implements Tunnel {
  openedMs = 0;
  bytesIn = 0;
  bytesOut = 0;
  closedBy: TunnelClose | null = null;
  #headSent = false;
  readonly #socket: Socket;
  readonly #limits: EdgeLimits;
  readonly #onOpen: (end: TunnelEnd) => void;

  constructor(socket: Socket, limits: EdgeLimits, onOpen: (end: TunnelEnd) => void) {
    super();
    // The head of the response is text, with bytes above 127 unchanged.
    this.setDefaultEncoding('latin1');
    this.#socket = socket;
    this.#limits = limits;
    this.#onOpen = onOpen;
  }

  /** From now on this is the client's socket. The head of the response is written first. */
  open(): void {
    const socket = this.#socket;
    this.openedMs = performance.now();
    const { request_time: waitMs, tunnel_idle: idleMs, tunnel_lifetime: lifetimeMs } = this.#limits;
    const lifetime = setTimeout(() => this.close('lifetime'), lifetimeMs);
    socket.setTimeout(idleMs, () => this.close('idle'));
    socket.setKeepAlive(true);
    socket.on('data', (chunk: Buffer) => {
      this.bytesIn += chunk.length;
      if (this.push(chunk)) return;
      // Nothing more is read until the service has taken this, so a client that leaves goes unnoticed.
      socket.pause().setTimeout(Math.min(waitMs, idleMs));
    });
    socket.on('end', () => {
      this.closedBy ??= 'client';
      this.push(null);
      socket.setTimeout(FAREWELL_MS);
    });
    socket.on('close', () => {
      clearTimeout(lifetime);
      this.closedBy ??= 'client';
      this.destroy();
    });
    this.#onOpen(this);
  }

  close(by: TunnelClose): void {
    this.closedBy ??= by;
    this.destroy();
  }

  override _read(): void {
    if (this.openedMs > 0 && this.#socket.isPaused()) this.#socket.resume().setTimeout(this.#limits.tunnel_idle);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.openedMs === 0) {
      done();
      return;
    }
    if (this.#headSent) this.bytesOut += chunk.length;
    this.#headSent = true;
    if (this.#socket.write(chunk)) done();
    else this.#socket.once('drain', done);
  }

  override _final(done: () => void): void {
    this.#finish();
    done();
  }

  override _destroy(_error: Error | null, done: (error: Error | null) => void): void {
    this.#finish();
    done(null);
  }

  /** Closes the client's socket gracefully. Without a reason, the upstream ended it. */
  #finish(): void {
    if (this.openedMs === 0) return;
    this.closedBy ??= 'upstream';
    this.#socket.destroySoon();
  }

  // Callers that take this for a socket tune it as one: it is tuned above, and only our timeouts apply.
  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }
}
