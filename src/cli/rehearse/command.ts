import { Command } from 'commander';
import type { Outcome, Rehearsal } from '../../gateway/usage/rehearsal/rehearsal.js';
import { CommandError } from '../command-error.js';
import { linesOf, logFiles } from '../log-files.js';
import { say, sayJson } from '../output.js';
import { textOf } from './show.js';

export function rehearseCommand(): Command {
  return new Command('rehearse')
    .argument('<file>')
    .description('say what a file of plans would have done to the requests in an access log')
    .requiredOption('--log <file...>', 'JSON lines of all gateways; .gz as well; - for standard input')
    .option('--today <file>', 'the plans of then, to say what was owed; else only what would be owed is')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { log, today, json }: Options) => {
      const files = logFiles(log);
      const { plansIn } = await import('../../gateway/config/load.js');
      const { Rehearsal: Made } = await import('../../gateway/usage/rehearsal/rehearsal.js');
      const rehearsal = new Made({ plans: plansIn(file), then: today === undefined ? undefined : plansIn(today) });
      const outcome = await rehearsed(rehearsal, files);
      checkOutcome(outcome, file);
      if (json === true) sayJson(outcome);
      else say(textOf(outcome));
    });
}

interface Options {
  readonly log: readonly string[];
  readonly today?: string;
  readonly json?: true;
}

interface Source {
  readonly chunks: AsyncGenerator<readonly string[], void>;
  /** Of the chunk at hand, and how many of it were read. */
  lines: readonly string[];
  read: number;
  /** The last decision that it had, store ms. */
  lastMs: number;
}

/** Reads the one that is furthest behind, so that what gateways logged at one time is met together. */
async function rehearsed(rehearsal: Rehearsal, files: ReadonlyMap<string, string>): Promise<Outcome> {
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

/** Reads what is at hand, until a line was decided later. */
function readUpTo(atMs: number, source: Source, rehearsal: Rehearsal): void {
  const { lines } = source;
  do {
    source.lastMs = Math.max(source.lastMs, rehearsal.read(lines[source.read]!) ?? -Infinity);
    source.read += 1;
  } while (source.read < lines.length && source.lastMs <= atMs);
}

/** False at its end. */
async function refill(source: Source): Promise<boolean> {
  const next = await source.chunks.next();
  if (next.done === true) return false;
  [source.lines, source.read] = [next.value, 0];
  return true;
}

function checkOutcome({ missingPlans, rehearsed: count, ignored }: Outcome, file: string): void {
  const missing = Object.entries(missingPlans).map(([plan, requests]) => `${plan} (${requests} requests)`);
  if (missing.length > 0)
    throw new CommandError(
      `${file} lacks plans that requests of the log were on, or limits for them: ${missing.join(', ')}. Add them ` +
        '(retired: true keeps a plan for who has it), then try again.',
    );
  if (count > 0) return;
  throw new CommandError(
    ignored.old > 0
      ? `The log is of a version that did not write decidedAt and windows: its ${ignored.old} lines don't say enough.`
      : 'The log has no access line of a request that cost anything. Is it the JSON lines of a gateway (log.access)?',
  );
}

const EXAMPLES = `
It needs no gateway. Lines of several gateways and files are brought into the order in which they were decided, as far
as they are not more than two minutes, or 100,000 lines, from it. Bans and grants by hand are taken from the log.
Examples:
  petgate plans rehearse plans-2027.yaml --log gateway-a.log gateway-b.log.1.gz
  petgate plans rehearse plans-2027.yaml --today plans.yaml --log november.log.gz
  journalctl -u petgate -o cat | petgate plans rehearse plans-2027.yaml --log -`;
