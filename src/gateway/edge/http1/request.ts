import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Pieces } from '../body/pieces.js';

/** A request over HTTP/1. What comes of its body before anybody reads it waits in one block. */
class Request extends IncomingMessage {
  #unread: Pieces | null = null;

  /** Node's parser calls it with each piece, and stops reading the connection when it gives false. */
  override push(piece: Buffer | null): boolean {
    if (piece !== null && this.readableFlowing !== true) {
      this.#unread ??= new Pieces();
      this.#unread.add(piece);
      return this.#unread.bytes < this.readableHighWaterMark;
    }
    this.#release();
    return super.push(piece);
  }

  /** A stream that was paused believes to be reading still, and asks for nothing. */
  override resume(): this {
    super.resume();
    this.#release();
    return this;
  }

  override _read(size: number): void {
    this.#release();
    super._read(size);
  }

  #release(): void {
    const unread = this.#unread;
    this.#unread = null;
    if (unread !== null) super.push(unread.whole());
  }
}

/**
 * Requests that decide themselves whether they leave HTTP. The parser sets `upgrade` to what the fields ask for; the
 * server reads it once head and method are known: true gives the connection away by the event `upgrade`. (A listener
 * alone would take every request with an Upgrade field, and Node 20 has no `shouldUpgradeCallback`.) It is also the one
 * way to stop the parser, which else makes requests of all that it was given.
 * @param isOver whether nothing more is to be read from this connection
 */
export function requestsThat(
  upgrade: (request: IncomingMessage) => boolean,
  isOver: (socket: Socket) => boolean,
): typeof IncomingMessage {
  return class extends Request {
    declare asked: boolean | null;
    declare granted: boolean | undefined;

    get upgrade(): boolean | null {
      const { asked } = this;
      if (asked === null) return null;
      return (this.granted ??= isOver(this.socket) || (asked && (this.method === 'CONNECT' || upgrade(this))));
    }

    set upgrade(asked: boolean | null) {
      this.asked = asked;
    }
  };
}

/** Whether its Upgrade was ignored (RFC 9110 §7.8). Node's parser drops what follows such a head in the same read. */
export function ignoredUpgrade(request: IncomingMessage): boolean {
  return (request as { asked?: boolean | null }).asked === true;
}
