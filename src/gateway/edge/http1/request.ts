import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { onlyValueOf } from '../fields.js';
import { Pieces } from '../body/pieces.js';

const LF = 10;

/** An HTTP/1 request. Parts of its body that arrive before anyone reads them wait in one block. */
class Request extends IncomingMessage {
  /**
   * Whether bytes after it may be lost: when an Upgrade is ignored (RFC 9110 §7.8), Node's parser stops at the end of
   * the request and drops everything else in the same read. `open`: the last piece of its body will show.
   */
  followed: boolean | 'open' = false;
  #unread: Pieces | null = null;
  #pieceBytes = 0;

  /** Node's parser calls this with each piece, and stops reading the connection if it returns false. */
  override push(piece: Buffer | null): boolean {
    if (this.followed === 'open') {
      if (piece === null) this.followed = bytesBeingRead(this.socket)?.length !== this.#pieceBytes;
      else this.#pieceBytes = piece.length;
    }
    if (piece !== null && this.readableFlowing !== true) {
      this.#unread ??= new Pieces();
      this.#unread.add(piece);
      return this.#unread.bytes < this.readableHighWaterMark;
    }
    this.#release();
    return super.push(piece);
  }

  /** Releases the block itself: a paused stream assumes that a read is pending and does not call `_read`. */
  override resume(): this {
    super.resume();
    this.#release();
    return this;
  }

  /** Drops Node's error for an abandoned request if nobody listens: its stack trace costs more than reading it did. */
  override destroy(error?: Error): this {
    return super.destroy(this.listenerCount('error') === 0 ? undefined : error);
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
 * Returns the class of requests that decide whether they leave HTTP. The parser sets `upgrade` to what the fields ask
 * for; the server reads it once head and method are known, and if true hands over the connection with the event
 * `upgrade`. (With only a listener, every request with an Upgrade field would leave, and Node 20 has no
 * `shouldUpgradeCallback`.) It is also the only way to stop the parser, which otherwise parses all bytes it was given.
 * @param isOver whether nothing more may be read from this connection
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
      if (this.granted === undefined) {
        this.granted = isOver(this.socket) || (asked && (this.method === 'CONNECT' || upgrade(this)));
        if (asked && !this.granted) this.followed = isFollowed(this);
      }
      return this.granted;
    }

    set upgrade(asked: boolean | null) {
      this.asked = asked;
    }
  };
}

/** Whether bytes after this request may be lost, so that its connection must end with it. */
export function mayBeFollowed(request: IncomingMessage): boolean {
  const { followed = false } = request as { readonly followed?: boolean | 'open' };
  return followed !== false;
}

/**
 * Whether the current read may hold bytes after this request. It certainly holds none if it begins and ends with it,
 * which is found by counting lines; true in any doubt (an earlier request in the same read, a head in two reads, a
 * chunked body).
 */
function isFollowed(request: IncomingMessage): boolean | 'open' {
  const { method = '', rawHeaders, socket } = request;
  const read = bytesBeingRead(socket);
  if (read === null || onlyValueOf(rawHeaders, 'transfer-encoding') !== null) return true;
  if (read.toString('latin1', 0, method.length + 1) !== `${method} `) return true;
  let end = 0;
  // Request line, fields and the blank line.
  for (let lines = 2 + rawHeaders.length / 2; lines > 0; lines -= 1) {
    end = read.indexOf(LF, end) + 1;
    if (end === 0) return true;
  }
  const length = Number(onlyValueOf(rawHeaders, 'content-length') ?? 0);
  if (read.length < end + length) return 'open';
  return read.length > end + length;
}

/** Returns what Node's parser is reading now; null if this Node version does not expose it. */
function bytesBeingRead(socket: Socket): Buffer | null {
  const { parser } = socket as { parser?: { getCurrentBuffer?: () => Buffer } };
  return parser?.getCurrentBuffer?.() ?? null;
}
