import type { ImportLine } from '../../accounts/transfer/import.js';
import { NotAnObject, parseObject } from './json.js';

/** Maximum bytes of a line written by an operator, and of one written by an export, which has a key's whole history. */
const LINE_BYTES = 16_384;
export const STORED_LINE_BYTES = 16 * 1_048_576;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Parses JSON lines from a stream: one object per line of at most `maxBytes`; empty lines are skipped. Not with
 * node:readline, which buffers lines of any length and replaces invalid UTF-8.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = LINE_BYTES,
): AsyncGenerator<ImportLine, void> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield* readLine(line, Buffer.concat([rest, chunk.subarray(start, end)]), isTooLong, maxBytes);
      rest = rest.subarray(0, 0);
      isTooLong = false;
      line += 1;
      start = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(start)]);
    // The rest of such a line is skipped, not buffered.
    isTooLong ||= rest.length > maxBytes;
    if (isTooLong) rest = rest.subarray(0, 0);
  }
  yield* readLine(line, rest, isTooLong, maxBytes);
}

function* readLine(line: number, bytes: Buffer, isTooLong: boolean, maxBytes: number): Generator<ImportLine, void> {
  const isMarked = line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
  if (isTooLong || bytes.length > maxBytes) {
    yield { line, problem: `is longer than ${maxBytes} bytes` };
    return;
  }
  try {
    const body = parseObject(isMarked ? bytes.subarray(3) : bytes);
    if (body !== undefined) yield { line, body };
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    yield { line, problem: error.message };
  }
}
