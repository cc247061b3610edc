import { pricesOf, type Plans } from '../../admission/plan.js';
import type { Prices } from './bills.js';
import { decisionIn, isCount, type LoggedDecision } from './line.js';
import { Replay, type LeftOut } from './replay.js';
import { Sorter } from './sorter.js';
import type { Doubt } from './subjects.js';
import { LogTally, type LogSums } from './log-tally.js';
import type { BeforeAndAfter } from './tally.js';
import { LINES_DROPPED } from '../../../shared/log-lines.js';

/** Number of lines that were not rehearsed, by reason. */
type Ignored = Record<LeftOut | 'repeated' | 'free' | 'undecided' | 'old' | 'strange' | 'unreadable' | 'other', number>;

/** The outcome of logged traffic under other plans. */
export interface Outcome extends LogSums {
  readonly rehearsed: number;
  readonly ignored: Readonly<Ignored>;
  /** Access lines that the log reports as dropped; without those omitted by sampling. */
  readonly dropped: number;
  /** Units spent by requests that the log lacks, computed from what later lines have left. */
  readonly missingUnits: number;
  readonly sampled: boolean;
  /** Plans that the log has and the new file lacks, with the number of their requests. */
  readonly missingPlans: Readonly<Record<string, number>>;
}

interface Script {
  readonly plans: Plans;
  /** The original plans, to compute what was owed. */
  readonly then?: Plans | undefined;
  /** Called with each logged decision and its new outcome; for tests. */
  readonly onDecided?: (line: LoggedDecision, outcome: string, doubt: Doubt | null) => void;
}

const EXCHANGE = '"msg":"exchange"';

export class Rehearsal {
  readonly #replay: Replay;
  readonly #sorter = new Sorter();
  readonly #tally: LogTally;
  readonly #missing = new Map<string, number>();
  readonly #ignored: Ignored = {
    ...{ no_plan: 0, crowded: 0, late: 0, repeated: 0, free: 0 },
    ...{ undecided: 0, old: 0, strange: 0, unreadable: 0, other: 0 },
  };
  readonly #onDecided: Script['onDecided'];
  /** IDs of the lines decided in the current millisecond, to detect a log that was given twice. */
  readonly #moment = { atMs: 0, ids: new Set<string>() };
  #rehearsed = 0;
  #dropped = 0;
  #sampled = false;

  constructor({ plans, then, onDecided }: Script) {
    this.#replay = new Replay(plans);
    this.#tally = new LogTally(pricesFor(plans, then));
    this.#onDecided = onDecided;
  }

  /** Reads a line. Returns when its request was decided, store ms; null if the line cannot be rehearsed. */
  read(text: string): number | null {
    if (!text.includes(EXCHANGE)) {
      this.#readOther(text);
      return null;
    }
    const fields = fieldsIn(text);
    const line = fields === null ? 'unreadable' : decisionIn(fields);
    if (typeof line === 'string') {
      this.#ignored[line] += 1;
      return null;
    }
    if (line.sampled) this.#sampled = true;
    for (const due of this.#sorter.add(line)) this.#decide(due);
    return line.atMs;
  }

  end(): Outcome {
    for (const due of this.#sorter.end()) this.#decide(due);
    return {
      ...this.#tally.end(),
      ...{ rehearsed: this.#rehearsed, ignored: this.#ignored, dropped: this.#dropped, sampled: this.#sampled },
      missingUnits: this.#replay.missingUnits,
      missingPlans: Object.fromEntries(this.#missing),
    };
  }

  #decide(line: LoggedDecision): void {
    if (this.#isRepeated(line)) {
      this.#ignored.repeated += 1;
      return;
    }
    const rehearsed = this.#replay.decide(line);
    if (typeof rehearsed === 'string') {
      this.#ignored[rehearsed] += 1;
      if (rehearsed === 'no_plan') this.#missing.set(line.plan, (this.#missing.get(line.plan) ?? 0) + 1);
      return;
    }
    this.#rehearsed += 1;
    this.#tally.add(rehearsed);
    this.#onDecided?.(line, rehearsed.verdict.outcome, rehearsed.doubt);
  }

  /** Lines arrive in the order of their decisions. */
  #isRepeated({ atMs, id }: LoggedDecision): boolean {
    const moment = this.#moment;
    if (moment.atMs !== atMs) {
      moment.atMs = atMs;
      moment.ids.clear();
    }
    const isKnown = moment.ids.has(id);
    if (!isKnown) moment.ids.add(id);
    return isKnown;
  }

  /** Counts a line that is not an access line. Only a notice of dropped lines matters. */
  #readOther(text: string): void {
    if (text === '') return;
    const fields = text.startsWith('{') ? fieldsIn(text) : null;
    if (fields === null) this.#ignored.unreadable += 1;
    else if (fields['msg'] !== LINES_DROPPED) this.#ignored.other += 1;
    else if (isCount(fields['accessLines'])) this.#dropped += fields['accessLines'];
    else this.#ignored.strange += 1;
  }
}

/** Returns null if no plan has a price. */
function pricesFor(plans: Plans, then: Plans | undefined): BeforeAndAfter<Prices> | null {
  const all = [...plans.values(), ...(then?.values() ?? [])];
  if (all.every(({ price }) => price === undefined)) return null;
  const pricesIn = (some: Plans): Prices => new Map(Object.entries(pricesOf(some)));
  return { before: then === undefined ? null : pricesIn(then), after: pricesIn(plans) };
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
