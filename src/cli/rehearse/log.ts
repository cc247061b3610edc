import type { Outcome, Rehearsal } from '../../gateway/usage/rehearsal/rehearsal.js';
import { CommandError } from '../terminal/command-error.js';
import { linesOf } from '../usage/log-files.js';
import { checkPlans } from './show.js';

/** Replays access logs under the plans of `file`. @param today file of the original plans, if known */
export async function rehearsedLog(file: string, today: string | undefined, logs: ReadonlyMap<string, string>) {
  const { plansIn } = await import('../../gateway/config/load.js');
  const { Rehearsal: Made } = await import('../../gateway/usage/rehearsal/rehearsal.js');
  const then = today === undefined ? undefined : plansIn(today);
  const outcome = await outcomeOf(new Made({ plans: plansIn(file), then }), logs);
  checkOutcome(outcome, file);
  return outcome;
}

interface Source {
  readonly chunks: AsyncGenerator<readonly string[], void>;
  /** Lines of the current chunk, and how many of them were read. */
  lines: readonly string[];
  read: number;
  /** Time of its last decision, store ms. */
  lastMs: number;
}

/** Always reads the source that is furthest behind, so that lines arrive nearly in the order of decisions. */
async function outcomeOf(rehearsal: Rehearsal, files: ReadonlyMap<string, string>): Promise<Outcome> {
  const sources = new Set<Source>();
  for (const [file, path] of files) sources.add({ chunks: linesOf(file, path), lines: [], read: 0, lastMs: -Infinity });
  while (sources.size > 0) {
    const behind = [...sources].sort((one, other) => one.lastMs - other.lastMs);
    const [source, next] = [behind[0]!, behind[1]];
    if (source.read < source.lines.length) readUpTo(next?.lastMs ?? Infinity, source, rehearsal);
    else if (!(await refill(source))) sources.delete(source);
  }
  return rehearsal.end();
}

/** Reads the current chunk up to the first line that was decided later than `atMs`. */
function readUpTo(atMs: number, source: Source, rehearsal: Rehearsal): void {
  const { lines } = source;
  do {
    source.lastMs = Math.max(source.lastMs, rehearsal.read(lines[source.read]!) ?? -Infinity);
    source.read += 1;
  } while (source.read < lines.length && source.lastMs <= atMs);
}

/** Reads the next chunk; resolves to false at the end. */
async function refill(source: Source): Promise<boolean> {
  const next = await source.chunks.next();
  if (next.done === true) return false;
  [source.lines, source.read] = [next.value, 0];
  return true;
}

function checkOutcome({ missingPlans, rehearsed: count, ignored }: Outcome, file: string): void {
  checkPlans(missingPlans, file);
  if (count > 0) return;
  throw new CommandError(
    ignored.old > 0
      ? `The log is from a version without decidedAt and windows: its ${ignored.old} lines cannot be replayed.`
      : 'The log has no access line of a request that cost anything. Is it the JSON log of a gateway (log.access)?',
  );
}
