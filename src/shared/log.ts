import { fstatSync } from 'node:fs';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { prettyLine } from './pretty.js';

export type Log = Logger;

/** A write of up to this size to a pipe stays in one piece (POSIX, PIPE_BUF), also when other processes write to it. */
const PIPE_PIECE_BYTES = 4096;
/** A file takes a write as a whole, however long it is. */
const FILE_PIECE_BYTES = 65_536;

/** A line whose text is made when it is written: together with others, at a fraction of what it costs among other work. */
interface LazyLine {
  /** One whole JSON line, its end included. */
  toString(): string;
}

let pieceBytes = PIPE_PIECE_BYTES;
let lines: (string | LazyLine)[] = [];
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
  if (fstatSync(1).isFile()) pieceBytes = FILE_PIECE_BYTES;
  process.on('exit', () => process.stdout.write(lines.slice(next).map(textOf).join('')));
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
export function writeLine(line: string | LazyLine): void {
  lines.push(typeof line === 'string' && process.stdout.isTTY ? prettyLine(line) : line);
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
    const line = textOf(lines[next]!);
    bytes += Buffer.byteLength(line);
    if (bytes > pieceBytes && piece !== '') {
      lines[next] = line;
      break;
    }
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

function textOf(line: string | LazyLine): string {
  if (typeof line === 'string') return line;
  const text = line.toString();
  return process.stdout.isTTY ? prettyLine(text) : text;
}
