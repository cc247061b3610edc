import { ResponseReader, type Progress } from '../../../../src/gateway/upstream/http1/reader.js';

/** What a reader made of the bytes that came on a connection. */
export interface Reading {
  readonly status: number;
  /** `name: value` each. */
  readonly fields: readonly string[];
  /** As latin1. */
  readonly body: string;
  readonly outcome: Progress;
}

/**
 * Has `pieces` read one by one, as the answer to a request of this method.
 * @param ends whether the server then ends the connection
 */
export function read(pieces: readonly Buffer[], method: string, ends: boolean): Reading {
  let status = 0;
  let fields: readonly string[] = [];
  let body = '';
  const reader = new ResponseReader({
    onHead: (head) => {
      status = head.status;
      fields = head.fields.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${head.fields[index + 1]!}`] : []));
    },
    onBody: (piece) => void (body += piece.toString('latin1')),
  });
  reader.expect(method);
  let outcome: Progress = 'more';
  for (const [index, piece] of pieces.entries()) {
    // In a copy: it moves chunks together in what it reads.
    outcome = reader.read(Buffer.from(piece));
    if (outcome === 'more') continue;
    if (outcome === 'done' && index < pieces.length - 1) outcome = 'surplus';
    return { status, fields, body, outcome };
  }
  return { status, fields, body, outcome: ends ? reader.finish() : outcome };
}

/** Cuts at so many places, by `next`, which gives numbers from 0 to below 1. */
export function cut(bytes: Buffer, cuts: number, next: () => number): Buffer[] {
  const places = Array.from({ length: cuts }, () => Math.floor(next() * (bytes.length + 1))).sort(
    (one, other) => one - other,
  );
  const pieces = [...places, bytes.length].map((place, index) =>
    bytes.subarray(index === 0 ? 0 : places[index - 1], place),
  );
  return pieces.filter(({ length }) => length > 0);
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
