import type { Plans } from '../../admission/plan.js';
import { decisionIn, type LoggedDecision } from './line.js';
import { Replay, type LeftOut } from './replay.js';
import { Sorter } from './sorter.js';
import type { Doubt } from './subjects.js';
import { Tally, type FirstRefusal, type Row } from './tally.js';
import { LINES_DROPPED } from '../../../shared/log-lines.js';

/** Lines that were not rehearsed, by why. */
type Ignored = Record<LeftOut | 'free' | 'undecided' | 'old' | 'strange' | 'unreadable' | 'other', number>;

/** What other plans would have done to logged traffic. */
export interface Outcome {
  readonly from: string | null;
  readonly to: string | null;
  readonly rehearsed: number;
  readonly different: number;
  /** Of those that are different, how many for a reason beside the plans may be so. */
  readonly doubtful: Readonly<Partial<Record<Doubt, number>>>;
  readonly ignored: Readonly<Ignored>;
  /** Access lines that the log does not have: it says so itself. Of a sample nobody knows how many. */
  readonly dropped: number;
  readonly sampled: boolean;
  readonly plans: readonly Row[];
  readonly payers: readonly Row[];
  readonly refused: readonly FirstRefusal[];
  /** Keys refused for the first time beyond those listed. */
  readonly refusedUnlisted: number;
  /** Plans that the log has and the new file lacks, with the number of their requests. */
  readonly missingPlans: Readonly<Record<string, number>>;
}

const EXCHANGE = '"msg":"exchange"';

/** Reads a log, line by line, and rehearses it. */
export class Rehearsal {
  readonly #replay: Replay;
  readonly #sorter = new Sorter();
  readonly #tally = new Tally();
  readonly #missing = new Map<string, number>();
  readonly #ignored: Ignored = {
    ...{ no_plan: 0, crowded: 0, late: 0, free: 0, undecided: 0, old: 0, strange: 0, unreadable: 0, other: 0 },
  };
  /** Called with each decision as it was logged and as it is now; for tests. */
  readonly #onDecided: ((line: LoggedDecision, outcome: string, doubt: Doubt | null) => void) | undefined;
  #rehearsed = 0;
  #dropped = 0;
  #sampled = false;

  constructor(plans: Plans, onDecided?: (line: LoggedDecision, outcome: string, doubt: Doubt | null) => void) {
    this.#replay = new Replay(plans);
    this.#onDecided = onDecided;
  }

  /** Gives when its request was decided, store ms; null of any other line. */
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
    const { firstMs, lastMs, different, doubtful } = this.#tally;
    const isEmpty = this.#rehearsed === 0;
    return {
      from: isEmpty ? null : new Date(firstMs).toISOString(),
      to: isEmpty ? null : new Date(lastMs).toISOString(),
      ...{ rehearsed: this.#rehearsed, different, doubtful, ignored: this.#ignored },
      ...{ dropped: this.#dropped, sampled: this.#sampled },
      ...{ plans: this.#tally.plans(), payers: this.#tally.changed(), refused: this.#tally.refused() },
      refusedUnlisted: this.#tally.unlisted,
      missingPlans: Object.fromEntries(this.#missing),
    };
  }

  #decide(line: LoggedDecision): void {
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

  /** Of the other lines of a gateway's log one matters. */
  #readOther(text: string): void {
    if (text === '') return;
    const fields = text.startsWith('{') ? fieldsIn(text) : null;
    if (fields === null) this.#ignored.unreadable += 1;
    else if (fields['msg'] === LINES_DROPPED) this.#dropped += Number(fields['accessLines']);
    else this.#ignored.other += 1;
  }
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
