import type { Socket } from 'node:net';
import { onceATurn } from '../../../shared/turns/once-a-turn.js';
import { Pieces } from '../../edge/body/pieces.js';
import type { BodyRest, BodySink } from '../../exchange.js';

/** Shorter pieces of one turn are sent together: a chunk of one byte takes six bytes and its own write. */
const WRITTEN_BYTES = 16 * 1024;

/**
 * Sends a long body after its head, as fast as the server takes it: in our own chunks, or up to the length in the head.
 * After stopping it early, close the connection: the server would wait for the rest.
 */
export class Upload implements BodySink {
  isSent = false;
  readonly #socket: Socket;
  readonly #rest: BodyRest;
  /** Bytes left of the length; null if sent in chunks. */
  #left: number | null;
  #pieces = new Pieces();
  readonly #schedule = onceATurn(() => this.#flush());
  readonly #onDrain = (): void => this.#rest.resume();

  constructor(socket: Socket, rest: BodyRest) {
    this.#socket = socket;
    this.#rest = rest;
    this.#left = rest.length;
  }

  begin(beginning: Buffer): void {
    this.#socket.on('drain', this.#onDrain);
    this.take(beginning);
    this.#rest.readInto(this);
  }

  /** Long pieces are written without copying them. */
  take(piece: Buffer): void {
    if (piece.length >= WRITTEN_BYTES) {
      this.#flush();
      this.#write(piece);
      return;
    }
    this.#pieces.add(piece);
    if (this.#pieces.bytes >= WRITTEN_BYTES) this.#flush();
    else this.#schedule();
  }

  end(): void {
    this.#flush();
    if (this.#left === null) this.#socket.write('0\r\n\r\n', 'latin1');
    this.isSent = this.#left === null || this.#left === 0;
    this.#socket.off('drain', this.#onDrain);
    if (!this.isSent) this.#socket.destroy();
  }

  /** Stops sending: the server will not get the rest. */
  stop(): void {
    if (this.isSent) return;
    this.#pieces = new Pieces();
    this.#socket.off('drain', this.#onDrain);
    this.#rest.stop();
  }

  #flush(): void {
    const bytes = this.#pieces.whole();
    this.#pieces = new Pieces();
    // An empty chunk would end the body.
    if (bytes.length > 0) this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    const socket = this.#socket;
    if (this.#left === null) {
      socket.cork();
      socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
      socket.write(bytes);
      socket.write('\r\n', 'latin1');
      socket.uncork();
    } else {
      this.#left -= bytes.length;
      // No client can send more than it declared; if one could, the server would read the excess as another request.
      if (this.#left < 0) socket.destroy();
      else socket.write(bytes);
    }
    // If the system took everything immediately, nothing waits, even if Node asks for a drain.
    if (socket.writableNeedDrain && socket.writableLength > 0) this.#rest.pause();
  }
}
