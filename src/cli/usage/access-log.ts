import { createReadStream, realpathSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../command-error.js';
import { LINES_DROPPED } from '../../shared/log-lines.js';

/** Admitted requests, and what they cost. */
export interface Admitted {
  requests: number;
  units: number;
}

/** What access logs say of one day. */
export interface LoggedDay {
  /** By `nameOf(key, plan, operation)`. */
  readonly counts: Map<string, Admitted>;
  readonly total: Admitted;
  /** Requests of which nobody knows whether they were admitted, by key and operation: the store's connection died first. */
  readonly unanswered: Map<string, number>;
  /** Lines of exchanges that could not be read: cut by a kill, or no JSON. */
  readonly unreadable: number;
  /** Lines that gateways dropped because nobody read their log, at a time that touches the day. */
  readonly dropped: number;
  /** First moment of admission, ISO 8601; null without any. */
  readonly first: string | null;
}

interface Line {
  readonly msg?: unknown;
  readonly time?: unknown;
  readonly counted?: unknown;
  /** Left out by gateways of versions in which every request cost one. */
  readonly units?: unknown;
  readonly admittedAt?: unknown;
  readonly key?: unknown;
  readonly plan?: unknown;
  readonly operation?: unknown;
  /** Stands in every line of a log that leaves some out. */
  readonly sampled?: unknown;
}

const LINE_BYTES = 1_048_576;
/** In every line that matters; saves reading the others as JSON. */
const COUNTED = '"counted":true';
const UNANSWERED = '"counted":null';

/** What ledger and log are compared by. */
export function nameOf(key: string, plan: string, operation: string): string {
  return `${key}\t${plan}\t${operation}`;
}

/** What of a log is unanswered is named by. */
export function askedOf(key: string, operation: string): string {
  return `${key}\t${operation}`;
}

/**
 * Counts the admitted requests of `day` in access logs: files, gzipped where their name ends in `.gz`,
 * or `-` for standard input. Reads as a stream. Throws CommandError for a file that can't be read.
 */
export async function readLogs(files: readonly string[], day: string): Promise<LoggedDay> {
  const total = { requests: 0, units: 0 };
  const [counts, unanswered] = [new Map<string, Admitted>(), new Map<string, number>()];
  const tally = { counts, total, unanswered, unreadable: 0, dropped: 0, first: null as string | null };
  const seen = new Set<string>();
  for (const file of files) {
    const path = file === '-' ? '-' : realPathOf(file);
    if (seen.has(path)) throw new CommandError(`${file} is named twice: its lines would count twice.`, 2);
    seen.add(path);
    try {
      for await (const line of linesOf(open(path))) {
        if (line.includes(LINES_DROPPED)) tally.dropped += droppedIn(line, day);
        if (line.includes(UNANSWERED)) noteUnanswered(unanswered, line, day);
        if (!line.includes(COUNTED)) continue;
        const admitted = readLine(line);
        if (admitted === undefined) tally.unreadable += 1;
        else if (admitted.at.startsWith(day)) {
          const counts = tally.counts.get(admitted.name) ?? { requests: 0, units: 0 };
          tally.counts.set(admitted.name, counts);
          for (const sum of [counts, total]) {
            sum.requests += 1;
            sum.units += admitted.units;
          }
          if (tally.first === null || admitted.at < tally.first) tally.first = admitted.at;
        }
      }
    } catch (error) {
      throw error instanceof CommandError ? error : unreadable(file, error);
    }
  }
  return tally;
}

function open(path: string): Readable {
  if (path === '-') return process.stdin;
  const file = createReadStream(path);
  if (!path.endsWith('.gz')) return file;
  const text = createGunzip();
  file.on('error', (error) => text.destroy(error));
  return file.pipe(text);
}

/** Not by node:readline, which keeps a line of any length. */
async function* linesOf(input: Readable): AsyncGenerator<string, void> {
  let rest = '';
  input.setEncoding('utf8');
  for await (const chunk of input as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_BYTES)
      throw new CommandError('A line of the access log has no end. Is it the JSON lines of a gateway?');
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function noteUnanswered(unanswered: Map<string, number>, line: string, day: string): void {
  try {
    const { msg, counted, time, key, operation } = JSON.parse(line) as Line;
    if (msg !== 'exchange' || counted !== null || !String(time).startsWith(day)) return;
    const name = askedOf(String(key), String(operation));
    unanswered.set(name, (unanswered.get(name) ?? 0) + 1);
  } catch {
    // Cut by a kill: it explains nothing.
  }
}

function readLine(line: string): { readonly name: string; readonly at: string; readonly units: number } | undefined {
  try {
    const { msg, counted, units, admittedAt, key, plan, operation, sampled } = JSON.parse(line) as Line;
    if (msg !== 'exchange' || counted !== true || typeof admittedAt !== 'string') return undefined;
    if (sampled !== undefined)
      throw new CommandError(
        `The access log holds only a sample (log.sampled: ${JSON.stringify(sampled)}) and can't prove a count. Compare a day that was logged with log.sampled: 1.`,
      );
    const name = nameOf(String(key), String(plan), String(operation));
    return { name, at: admittedAt, units: typeof units === 'number' ? units : 1 };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    return undefined;
  }
}

/** Of access lines, between two times of which one may be of another day. */
function droppedIn(text: string, day: string): number {
  try {
    const { msg, accessLines, since, time } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const isOfDay = String(since).slice(0, 10) <= day && day <= String(time).slice(0, 10);
    return msg === LINES_DROPPED && isOfDay ? Number(accessLines) : 0;
  } catch {
    return 0;
  }
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): CommandError {
  return new CommandError(
    `The access log ${file} can't be read: ${error instanceof Error ? error.message : String(error)}.`,
  );
}
