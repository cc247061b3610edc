import type { Readable } from 'node:stream';
import { bodyTooLarge, type Refusal } from '../../refusal.js';
import { Pieces } from './pieces.js';

/** Longer bodies are not gathered: they are forwarded as they arrive. */
export const LONG_BYTES = 64 * 1024;
/** The most that is held of a body: the gathered bytes, and the rest of the last piece. */
export const HELD_BYTES = 2 * LONG_BYTES;

interface Gathering {
  readonly maxBytes: number;
  /** Whether it ended, rather than broke off. */
  readonly isWhole: () => boolean;
  readonly onWhole: (body: Buffer) => void;
  /** It is long, and begins with this. The rest is not read. */
  readonly onLong: (beginning: Buffer) => void;
  readonly onRefused: (refusal: Refusal) => void;
}

/**
 * Reads a body to its end, or until it is known to be long or too large. The caller handles broken ones.
 * @param declared bytes; null: only its end shows. A body that declares itself long counts as long with its first
 *   piece: a client that sends none takes no connection of an upstream
 */
export function gatherBody(source: Readable, declared: number | null, gathering: Gathering): void {
  const { maxBytes, isWhole, onWhole, onLong, onRefused } = gathering;
  const gatheredBytes = declared !== null && declared > LONG_BYTES ? 0 : LONG_BYTES;
  let body = new Pieces();
  let isTooLarge = false;
  const onPiece = (piece: Buffer): void => {
    // Drops what arrived and what still arrives.
    if (isTooLarge) return;
    isTooLarge = body.bytes + piece.length > maxBytes;
    if (isTooLarge) {
      body = new Pieces();
      onRefused(bodyTooLarge(maxBytes));
      return;
    }
    body.add(piece);
    if (body.bytes <= gatheredBytes) return;
    source.pause().off('data', onPiece).off('end', onEnd);
    onLong(body.whole());
  };
  const onEnd = (): void => {
    if (!isTooLarge && isWhole()) onWhole(body.whole());
  };
  // An empty HTTP/2 body has ended before anything listened.
  if (source.readableEnded) onEnd();
  else source.on('data', onPiece).on('end', onEnd);
}
