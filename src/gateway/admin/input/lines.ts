import type { ImportLine } from '../../accounts/import/import.js';
import { NotAnObject, parseObject } from './json.js';

const LINE_BYTES = 16_384;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * JSON lines as they come: one object per line of at most 16 KiB, empty lines skipped. Not by node:readline, which
 * keeps a line of any length, and mends what is no UTF-8.
 */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportLine, void> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield* readLine(line, Buffer.concat([rest, chunk.subarray(start, end)]), isTooLong);
      rest = rest.subarray(0, 0);
      isTooLong = false;
      line += 1;
      start = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(start)]);
    // The rest of such a line is read over, not kept.
    isTooLong ||= rest.length > LINE_BYTES;
    if (isTooLong) rest = rest.subarray(0, 0);
  }
  yield* readLine(line, rest, isTooLong);
}

function* readLine(line: number, bytes: Buffer, isTooLong: boolean): Generator<ImportLine, void> {
  const isMarked = line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK);
  if (isTooLong || bytes.length > LINE_BYTES) {
    yield { line, problem: `is longer than ${LINE_BYTES} bytes` };
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
