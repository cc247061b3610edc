import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { onlyValueOf } from '../fields.js';
import { Pieces } from '../body/pieces.js';

const LF = 10;

/** A request over HTTP/1. What comes of its body before anybody reads it waits in one block. */
class Request extends IncomingMessage {
  /**
   * Whether bytes behind it may be lost: where an Upgrade is ignored (RFC 9110 §7.8), Node's parser stops at the end of
   * the request and drops what else came in the same read. `open`: that shows with the last piece of its body.
   */
  followed: boolean | 'open' = false;
  #unread: Pieces | null = null;
  #pieceBytes = 0;

  /** Node's parser calls it with each piece, and stops reading the connection when it gives false. */
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

  /** A stream that was paused believes to be reading still, and asks for nothing. */
  override resume(): this {
    super.resume();
    this.#release();
    return this;
  }

  /** Node makes an error of each request that its client left behind; to say where costs more than to read it did. */
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

/** Whether bytes behind this request may be lost, so that its connection has to end with it. */
export function mayBeFollowed(request: IncomingMessage): boolean {
  const { followed = false } = request as { readonly followed?: boolean | 'open' };
  return followed !== false;
}

/**
 * Counts lines, for only a read that begins with this request and ends with it is sure to hold nothing else: any doubt
 * (an earlier request in the same read, a head in two reads, a chunked body) is a yes.
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

/** What Node's parser is reading right now; null where this Node does not say. */
function bytesBeingRead(socket: Socket): Buffer | null {
  const { parser } = socket as { parser?: { getCurrentBuffer?: () => Buffer } };
  return parser?.getCurrentBuffer?.() ?? null;
}
