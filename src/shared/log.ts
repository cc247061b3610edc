import { pino } from 'pino';
import type { Logger } from 'pino';
import { prettyLine } from './pretty.js';

export type Log = Logger;

/** A write of up to this size to a pipe stays in one piece (POSIX, PIPE_BUF), also when other processes write to it. */
const PIECE_BYTES = 4096;

let lines: string[] = [];
/** Lines before this one are handed over. */
let next = 0;
let scheduled = false;

/**
 * A JSON-lines log on standard output. Lines of one event-loop turn are written together when the
 * turn ends: as safe as one by one but for the turn that a `kill -9` cuts, at a fraction of the cost.
 * @param program name in each line's `program`
 * @param level pino level, `silent` included
 */
export function createLog(program: string, level: string): Log {
  process.on('exit', () => process.stdout.write(lines.slice(next).join('')));
  // Whoever read the log is gone: that is no reason to stop serving.
  process.stdout.on('error', () => undefined);
  return pino(
    {
      level,
      base: { program, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: writeLine },
  );
}

/** Adds one whole JSON line, its end included, to those of this turn; on a terminal as a person likes it. */
export function writeLine(line: string): void {
  lines.push(process.stdout.isTTY ? prettyLine(line) : line);
  if (scheduled) return;
  scheduled = true;
  setImmediate(writePieces);
}

/**
 * Workers share one pipe: so whole lines go in pieces that the kernel does not tear, each once the one
 * before is out, or the stream would join them. A single line that is longer goes as it is.
 */
function writePieces(): void {
  let piece = '';
  let bytes = 0;
  for (; next < lines.length; next += 1) {
    const line = lines[next]!;
    bytes += Buffer.byteLength(line);
    if (bytes > PIECE_BYTES && piece !== '') break;
    piece += line;
  }
  if (piece !== '') {
    process.stdout.write(piece, writePieces);
    return;
  }
  lines = [];
  next = 0;
  scheduled = false;
}
