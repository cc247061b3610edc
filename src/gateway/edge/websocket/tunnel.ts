import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Tunnel, TunnelClose } from '../../exchange.js';

/** How long a client that half-closed may take to read the rest. */
const FAREWELL_MS = 2000;

interface TunnelTerms {
  /** How long the client's bytes may wait for the service: meanwhile nothing is read, so its leaving goes unnoticed. */
  readonly request_time: number;
  readonly tunnel_idle: number;
  readonly tunnel_lifetime: number;
}

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
  readonly #terms: TunnelTerms;
  readonly #onOpen: (end: TunnelEnd) => void;

  constructor(socket: Socket, terms: TunnelTerms, onOpen: (end: TunnelEnd) => void) {
    super();
    // The head of the response is text, with bytes above 127 unchanged.
    this.setDefaultEncoding('latin1');
    this.#socket = socket;
    this.#terms = terms;
    this.#onOpen = onOpen;
  }

  /** From now on this is the client's socket. The head of the response is written first. */
  open(): void {
    const socket = this.#socket;
    this.openedMs = performance.now();
    const lifetime = setTimeout(() => this.close('lifetime'), this.#terms.tunnel_lifetime);
    socket.setTimeout(this.#terms.tunnel_idle, () => this.close('idle'));
    socket.setKeepAlive(true);
    socket.on('data', (chunk: Buffer) => {
      this.bytesIn += chunk.length;
      if (this.push(chunk)) return;
      socket.pause().setTimeout(Math.min(this.#terms.request_time, this.#terms.tunnel_idle));
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
    if (this.openedMs > 0 && this.#socket.isPaused()) this.#socket.resume().setTimeout(this.#terms.tunnel_idle);
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
