import { fstatSync } from 'node:fs';
import { onceATurn } from './turns/once-a-turn.js';
import { styleText } from 'node:util';

/**
 * A write of up to this size to a pipe stays in one piece (POSIX, PIPE_BUF), even if other processes write to it too.
 */
const PIPE_PIECE_BYTES = 4096;
/** Size of one write to a file, which is never split. */
const FILE_PIECE_BYTES = 65_536;

/**
 * A line whose text is built only when it is written: together with others, which costs a fraction of building it in
 * between other work.
 */
interface LazyLine {
  /** Returns one whole line, with its line break: JSON, or plain text for people. */
  toString(): string;
}

/** Once this much waits for a stalled reader, access lines are dropped, and above MAX_BYTES all others too. */
const MAX_ACCESS_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 9 * 1024 * 1024;
/** Message when writing continues, with the number of dropped lines and since when. */
export const LINES_DROPPED = 'lines of this log were dropped: nothing read it';

/** Whole lines that go out in one write. */
interface Piece {
  text: string;
  bytes: number;
  accessLines: number;
  otherLines: number;
}

let program = '';
let pieceBytes = PIPE_PIECE_BYTES;
/** Lines of this turn of the event loop. */
let lines: (string | LazyLine)[] = [];
const pieces: Piece[] = [];
let waitingBytes = 0;
let writing = false;
/** Lines dropped since the last notice, and the notice that waits to be written; there is at most one. */
let dropped = { accessLines: 0, otherLines: 0, since: '' };
let notice: Piece | null = null;
let droppedBefore = 0;

/** Returns the number of lines dropped since the process started. */
export function droppedLines(): number {
  return droppedBefore + dropped.accessLines + dropped.otherLines;
}

/** Starts writing lines to standard output. `named` is the program name in the notices of the log itself. */
export function openLines(named: string): void {
  program = named;
  if (fstatSync(1).isFile()) pieceBytes = FILE_PIECE_BYTES;
  if (process.stdout.isTTY) dontWaitForTerminal();
  process.on('exit', () => {
    for (const line of lines) keep(line);
    notifyWaiting();
    process.stdout.write(pieces.map(({ text }) => text).join(''));
  });
  // The reader of the log is gone: keep serving. The lines count as dropped.
  process.stdout.on('error', () => undefined);
}

/** Makes writes to a terminal non-blocking: a paused terminal (Ctrl-S) would otherwise block the whole process. */
function dontWaitForTerminal(): void {
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  handle?.setBlocking?.(false);
}

/** Adds one whole line, with its line break, to this turn's lines. */
export function writeLine(line: string | LazyLine): void {
  lines.push(line);
  writeSoon();
}

/** Builds the text of lines before they wait: the exchange of a lazy line takes many times the memory. */
const writeSoon = onceATurn(() => {
  const turn = lines;
  lines = [];
  for (const line of turn) keep(line);
  if (!writing) writeNext();
});

/** Keeps a line, or drops it if too much is waiting. The text of a dropped access line is never built. */
function keep(line: string | LazyLine): void {
  const isAccess = typeof line !== 'string';
  if (waitingBytes < (isAccess ? MAX_ACCESS_BYTES : MAX_BYTES)) {
    append(textOf(line), isAccess);
    return;
  }
  drop(isAccess ? { accessLines: 1, otherLines: 0 } : { accessLines: 0, otherLines: 1 });
}

function drop({ accessLines, otherLines }: Pick<Piece, 'accessLines' | 'otherLines'>): void {
  if (dropped.since === '') dropped.since = new Date().toISOString();
  dropped.accessLines += accessLines;
  dropped.otherLines += otherLines;
}

/**
 * Adds a line to the last piece, or to a new one. Workers share one pipe, so lines are written in pieces that the
 * kernel does not split; each waits until the one before is written, or the stream would join them. A longer single
 * line is written as it is.
 */
function append(text: string, isAccess: boolean): void {
  const bytes = Buffer.byteLength(text);
  let last = pieces.at(-1);
  if (last === undefined || last.bytes + bytes > pieceBytes)
    pieces.push((last = { text: '', bytes: 0, accessLines: 0, otherLines: 0 }));
  last.text += text;
  last.bytes += bytes;
  last[isAccess ? 'accessLines' : 'otherLines'] += 1;
  waitingBytes += bytes;
}

function writeNext(): void {
  const piece = pieces.shift();
  writing = piece !== undefined;
  if (piece === undefined) return;
  process.stdout.write(piece.text, (error) => {
    waitingBytes -= piece.bytes;
    if (piece === notice) notice = null;
    if (error) drop(piece);
    else if (notice === null) notifyWaiting();
    writeNext();
  });
}

/** Adds a notice that says how many lines are missing. */
function notifyWaiting(): void {
  const { accessLines, otherLines } = dropped;
  if (accessLines + otherLines === 0) return;
  const fields = { time: new Date().toISOString(), program, pid: process.pid, ...dropped, msg: LINES_DROPPED };
  append(textOf(`${JSON.stringify({ level: 'warn', ...fields })}\n`), false);
  notice = pieces.at(-1)!;
  droppedBefore += accessLines + otherLines;
  dropped = { accessLines: 0, otherLines: 0, since: '' };
}

/** Returns a line's text; on a terminal, JSON is formatted for people. */
function textOf(line: string | LazyLine): string {
  const text = line.toString();
  return process.stdout.isTTY && text.startsWith('{') ? prettyLine(text) : text;
}

const SHOWN_ELSEWHERE = new Set(['level', 'time', 'program', 'pid', 'msg']);
const STYLES = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const;

/** Formats a JSON log line for people: time, level, program, message, then all other fields that are not null. */
export function prettyLine(line: string): string {
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { level = 'info', time = '', program = '', msg = '' } = fields as Readonly<Record<string, string>>;
  const style = level in STYLES ? STYLES[level as keyof typeof STYLES] : 'dim';
  const rest = Object.entries(fields)
    .filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null)
    .map(
      ([name, value]) =>
        `${styleText('dim', `${name}=`)}${plain(typeof value === 'string' ? value : JSON.stringify(value))}`,
    );
  return (
    (
      `${styleText('dim', time.slice(11, 23))} ${styleText(style, level.padEnd(5))} ${program} ${plain(msg)} ` +
      rest.join(' ')
    ).trimEnd() + '\n'
  );
}

/** Replaces control characters: text from clients must not control the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}
