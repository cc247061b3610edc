import { CommandError } from '../terminal/command-error.js';
import { linesOf, logFiles } from './log-files.js';
import { LINES_DROPPED } from '../../shared/log-lines.js';

/** Admitted requests, and what they cost once their holds are settled. */
export interface Admitted {
  requests: number;
  units: number;
}

/** The counts of one day in access logs. */
export interface LoggedDay {
  /** By `nameOf` key, plan and operation. */
  readonly counts: Map<string, Admitted>;
  readonly total: Admitted;
  /** Requests that may have been admitted, by `nameOf` key and operation: the store's connection broke first. */
  readonly unanswered: Map<string, number>;
  /** Lines of exchanges that could not be read: cut by a kill, or no JSON. */
  unreadable: number;
  /** Lines that gateways dropped, perhaps on this day, because nothing read their log. */
  dropped: number;
  /** First moment of admission, ISO 8601; null without any. */
  first: string | null;
}

/** Unchecked fields of a line. */
type Line = Readonly<Record<string, unknown>>;

const COUNTED = '"counted":true';
/** Every relevant line contains one of these: the others need not be parsed. */
const MARKS = [COUNTED, '"counted":null', LINES_DROPPED];

/** Returns the name by which ledger, log and counter are compared. */
export function nameOf(...parts: readonly string[]): string {
  return parts.join('\t');
}

/** Counts the admitted requests of `day` in access logs: files (gzipped if `.gz`), or `-`. Throws CommandError. */
export async function readLogs(files: readonly string[], day: string): Promise<LoggedDay> {
  const tally: LoggedDay = {
    counts: new Map(),
    total: { requests: 0, units: 0 },
    unanswered: new Map(),
    unreadable: 0,
    dropped: 0,
    first: null,
  };
  for (const [file, path] of logFiles(files)) {
    let isEmpty = true;
    let isLog = false;
    for await (const lines of linesOf(file, path))
      for (const text of lines) {
        isEmpty &&= text.trim() === '';
        isLog ||= text.startsWith('{') && text.includes('"msg":');
        if (MARKS.some((mark) => text.includes(mark))) addLine(tally, text, day);
      }
    if (!isEmpty && !isLog)
      throw new CommandError(`${file} is not an access log: none of its lines is a JSON line of a gateway.`);
  }
  return tally;
}

function addLine(tally: LoggedDay, text: string, day: string): void {
  const line = lineIn(text);
  const { msg, counted, time } = line;
  if (msg === LINES_DROPPED) tally.dropped += droppedIn(line, day);
  else if (msg === 'exchange' && counted === null) {
    if (!String(time).startsWith(day)) return;
    const name = nameOf(String(line['key']), String(line['operation']));
    tally.unanswered.set(name, (tally.unanswered.get(name) ?? 0) + 1);
  } else if (text.includes(COUNTED)) addAdmitted(tally, line, day);
}

function addAdmitted(tally: LoggedDay, line: Line, day: string): void {
  const { msg, counted, units, settled, admittedAt, sampled } = line;
  if (msg !== 'exchange' || counted !== true || typeof admittedAt !== 'string') {
    tally.unreadable += 1;
    return;
  }
  // Every line of a sampled log has it.
  if (sampled !== undefined)
    throw new CommandError(
      `The access log holds only a sample (log.sampled: ${JSON.stringify(sampled)}) and can't prove a count. ` +
        'Compare a day that was logged with log.sampled: 1.',
    );
  if (!admittedAt.startsWith(day)) return;
  const name = nameOf(String(line['key']), String(line['plan']), String(line['operation']));
  const counts = tally.counts.get(name) ?? { requests: 0, units: 0 };
  tally.counts.set(name, counts);
  for (const sum of [counts, tally.total]) {
    sum.requests += 1;
    // Left out by gateways of versions in which every request cost one.
    if (typeof settled === 'number') sum.units += settled;
    else sum.units += typeof units === 'number' ? units : 1;
  }
  if (tally.first === null || admittedAt < tally.first) tally.first = admittedAt;
}

/** Parses a line; no fields if it is not JSON or was cut by a kill. */
function lineIn(text: string): Line {
  try {
    return (JSON.parse(text) as Line | null) ?? {};
  } catch {
    return {};
  }
}

/** Returns the number of dropped access lines; 0 if none can be of this day. */
function droppedIn({ accessLines, since, time }: Line, day: string): number {
  return String(since).slice(0, 10) <= day && day <= String(time).slice(0, 10) ? Number(accessLines) : 0;
}
