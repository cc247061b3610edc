import { fstatSync } from 'node:fs';
import { onceATurn } from './once-a-turn.js';
import { styleText } from 'node:util';

/** A write of up to this size to a pipe stays in one piece (POSIX, PIPE_BUF), also when other processes write to it. */
const PIPE_PIECE_BYTES = 4096;
/** A file takes a write as a whole, however long it is. */
const FILE_PIECE_BYTES = 65_536;

/** A line whose text is made when it is written: together with others, at a fraction of the cost among other work. */
interface LazyLine {
  /** One whole line, its end included: JSON, or text that a person reads as it is. */
  toString(): string;
}

/** What waits at most for a reader that stands still: access lines up to here, others up to here. */
const MAX_ACCESS_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 9 * 1024 * 1024;
/** What the log says once it goes on, with how many and since when. */
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
/** Of this turn. */
let lines: (string | LazyLine)[] = [];
const pieces: Piece[] = [];
let waitingBytes = 0;
let writing = false;
/** Since the last notice; and the notice that waits, of which there is one at a time. */
let dropped = { accessLines: 0, otherLines: 0, since: '' };
let notice: Piece | null = null;
let droppedBefore = 0;

/** Lines dropped since the process began. */
export function droppedLines(): number {
  return droppedBefore + dropped.accessLines + dropped.otherLines;
}

/** Takes lines for standard output from now on; `named` is in what it says itself. */
export function openLines(named: string): void {
  program = named;
  if (fstatSync(1).isFile()) pieceBytes = FILE_PIECE_BYTES;
  if (process.stdout.isTTY) dontWaitForTerminal();
  process.on('exit', () => {
    for (const line of lines) keep(line);
    notifyWaiting();
    process.stdout.write(pieces.map(({ text }) => text).join(''));
  });
  // The process that read the log is gone: no reason to stop serving. Its lines are counted as dropped.
  process.stdout.on('error', () => undefined);
}

/** Node waits for each write to a terminal, so that one that stands still (Ctrl-S) would stop the whole process. */
function dontWaitForTerminal(): void {
  const { _handle: handle } = process.stdout as { _handle?: { setBlocking?(isBlocking: boolean): void } };
  handle?.setBlocking?.(false);
}

/** Adds one whole line, its end included, to those of this turn. */
export function writeLine(line: string | LazyLine): void {
  lines.push(line);
  writeSoon();
}

/** A line that waits has its text: an exchange holds many times as much. */
const writeSoon = onceATurn(() => {
  const turn = lines;
  lines = [];
  for (const line of turn) keep(line);
  if (!writing) writeNext();
});

/** Of an access line that is dropped not even the text is made. */
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
 * Workers share one pipe: so whole lines go in pieces that the kernel does not tear, each once the one
 * before is out, or the stream would join them. A single line that is longer goes as it is.
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

/** Says in the log how many lines are missing. */
function notifyWaiting(): void {
  const { accessLines, otherLines } = dropped;
  if (accessLines + otherLines === 0) return;
  const fields = { time: new Date().toISOString(), program, pid: process.pid, ...dropped, msg: LINES_DROPPED };
  append(textOf(`${JSON.stringify({ level: 'warn', ...fields })}\n`), false);
  notice = pieces.at(-1)!;
  droppedBefore += accessLines + otherLines;
  dropped = { accessLines: 0, otherLines: 0, since: '' };
}

/** On a terminal JSON becomes what a person likes. */
function textOf(line: string | LazyLine): string {
  const text = line.toString();
  return process.stdout.isTTY && text.startsWith('{') ? prettyLine(text) : text;
}

const SHOWN_ELSEWHERE = new Set(['level', 'time', 'program', 'pid', 'msg']);
const STYLES = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const;

/** A JSON log line as a person likes it: time, level, program, message, then the rest that says something. */
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

/** Without control characters: what strangers sent must not steer the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}
