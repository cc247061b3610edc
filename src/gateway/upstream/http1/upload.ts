import type { Socket } from 'node:net';
import { onceATurn } from '../../../shared/once-a-turn.js';
import { Pieces } from '../../edge/body/pieces.js';
import type { BodyRest, BodySink } from '../../exchange.js';

/** Shorter pieces of one turn go out together: a chunk for each byte would cost six, and a write. */
const WRITTEN_BYTES = 16 * 1024;

/**
 * Sends a long body behind its head, as fast as the server takes it: in chunks of our own, or to the length that the
 * head says. Whoever ends it early must end the connection as well, or the server would wait for the rest.
 */
export class Upload implements BodySink {
  isSent = false;
  readonly #socket: Socket;
  readonly #rest: BodyRest;
  /** Bytes that are missing of the length; null: it goes in chunks. */
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

  /** Of a long piece nothing is copied. */
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

  /** The server will not get the rest. */
  stop(): void {
    if (this.isSent) return;
    this.#pieces = new Pieces();
    this.#socket.off('drain', this.#onDrain);
    this.#rest.stop();
  }

  #flush(): void {
    const bytes = this.#pieces.whole();
    this.#pieces = new Pieces();
    // An empty chunk would be the last.
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
      // No client can say more than it declared; but if one could, the rest would be a request of its own.
      if (this.#left < 0) socket.destroy();
      else socket.write(bytes);
    }
    // What the system took at once does not wait, whatever Node says of its own queue.
    if (socket.writableNeedDrain && socket.writableLength > 0) this.#rest.pause();
  }
}
