import type { Readable } from 'node:stream';
import { bodyTooLarge, type Refusal } from '../../refusal.js';
import { Pieces } from './pieces.js';

/** Longer bodies are not gathered: they are sent on as they come. */
export const LONG_BYTES = 64 * 1024;
/** What is held of a body at most: what is gathered, and what came with its last piece. */
export const HELD_BYTES = 2 * LONG_BYTES;

interface Gathering {
  readonly maxBytes: number;
  /** Whether it did not merely break off. */
  readonly isWhole: () => boolean;
  readonly onWhole: (body: Buffer) => void;
  /** It is long: this is how it begins. The rest stays where it is. */
  readonly onLong: (beginning: Buffer) => void;
  readonly onRefused: (refusal: Refusal) => void;
}

/**
 * Reads a body to its end, or until it proves to be long, or too large. What breaks it off is for the caller to see.
 * @param declared bytes; null: only its end will tell. One that is known to be long is so with its first piece: who
 * sends none takes no connection of an upstream
 */
export function gatherBody(source: Readable, declared: number | null, gathering: Gathering): void {
  const { maxBytes, isWhole, onWhole, onLong, onRefused } = gathering;
  const gatheredBytes = declared !== null && declared > LONG_BYTES ? 0 : LONG_BYTES;
  let body = new Pieces();
  let isTooLarge = false;
  const onPiece = (piece: Buffer): void => {
    // What still comes is read and dropped, and what came is let go of.
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
  // An empty one of HTTP/2 has ended by itself, before anybody listened.
  if (source.readableEnded) onEnd();
  else source.on('data', onPiece).on('end', onEnd);
}
