import type { BucketState, Limit } from '../../../admission/bucket.js';
import { verdictOf, type Ruling } from '../../../admission/decide.js';
import { withGrants, type Extra } from '../../records/grant.js';
import { termsOf, type Plan, type Plans, type Terms } from '../../../admission/plan.js';
import type { AdmissionRequest } from '../../../admission/port.js';
import type { Verdict } from '../../../admission/verdict.js';
import { costOf, heldOf, type Window } from '../../../admission/windows.js';
import { CODES, GRANTS_FLAG, HEAD_BYTES, NO_LIMIT, NOTED_FLAG, OUT_OF_SCOPE_FLAG, OWN_LIMITS_FLAG } from './codes.js';
import { readState, STATE_BYTES, viewOf } from '../../state.js';
import { grantsIn } from './grants.js';

/** The plans in the order of their numbers in the script. */
export type PlanTable = readonly { readonly plan: Plan; readonly terms: Terms | undefined }[];

export function planTable(plans: Plans): PlanTable {
  return [...plans.values()].map((plan) => ({ plan, terms: termsOf(plans, plan.name, null) }));
}

/** Size of a response without grants, own limits, balance, windows and lease. */
const ANSWER_BYTES = HEAD_BYTES + STATE_BYTES;

/** Reads the responses of one run, one after the other. */
export class AnswerReader {
  readonly #answers: Buffer;
  readonly #table: PlanTable;
  /** Keys whose requests left pending events. */
  readonly noted: string[] = [];
  #at = 0;

  constructor(answers: Buffer, table: PlanTable) {
    this.#answers = answers;
    this.#table = table;
  }

  /** Returns the verdict on the next request. */
  next(request: AdmissionRequest): Verdict {
    const first = this.#answers.readUInt8(this.#at);
    const code = CODES[first % OWN_LIMITS_FLAG];
    if ((first & NOTED_FLAG) !== 0 && request.subject.kind === 'key') this.noted.push(request.subject.id);
    if (code === undefined) throw new Error('the admission script returned an unknown code');
    switch (code) {
      case 'unknown':
      case 'disabled':
      case 'expired':
      case 'revoked':
      case 'closed':
      case 'no_plan':
        this.#at += ANSWER_BYTES;
        return { outcome: 'unknown_key', reason: code };
      case 'admitted':
      case 'limited':
      case 'crowded':
      case 'banned':
      case 'ban_started':
        return this.#standing(request, code, first);
    }
  }

  /** @param first the code of the response with its flags */
  #standing({ subject, operation, cost }: AdmissionRequest, ruling: Ruling, first: number): Verdict {
    const answers = this.#answers;
    const at = this.#at;
    this.#at += ANSWER_BYTES;
    const row = this.#table[answers.readUInt16LE(at + 1)];
    if (row === undefined) throw new Error('the admission script returned a plan that it was not given');
    const nowMs = answers.readDoubleLE(at + 3);
    const grants = (first & GRANTS_FLAG) === 0 ? undefined : this.#grants();
    const own = row.terms ?? this.#ownTerms(row.plan, at, (first & OWN_LIMITS_FLAG) !== 0);
    const terms = withGrants(row.plan.isPrepaid === true ? this.#withBalance(own) : own, grants, nowMs);
    const state = readState(viewOf(answers), answers.byteOffset + at + HEAD_BYTES);
    const windows = heldOf(state, terms, operation, (window) => this.#bucketOf(window, state.month));
    const key = subject.kind === 'key' ? { id: subject.id, version: answers.readDoubleLE(at + 11) } : null;
    const charged = costOf(terms.operations, operation, cost);
    const inScope = (first & OUT_OF_SCOPE_FLAG) === 0;
    const verdict = verdictOf(state, terms, windows, ruling, key, inScope, charged, nowMs);
    if (verdict.outcome !== 'admitted' || verdict.concurrency === undefined || charged === 0) return verdict;
    return { ...verdict, lease: this.#double() };
  }

  #grants(): readonly Extra[] {
    const from = this.#at + 2;
    this.#at = from + this.#answers.readUInt16LE(this.#at);
    return grantsIn(this.#answers.toString('latin1', from, this.#at));
  }

  /** Reads the terms under a plan whose limits are set on each key. */
  #ownTerms({ name, refill, ban, operations, concurrency }: Plan, at: number, hasMore: boolean): Terms {
    const limits = {
      minute: limitOf(this.#answers.readDoubleLE(at + 19)),
      day: limitOf(this.#answers.readDoubleLE(at + 27)),
    };
    const terms = { plan: name, limits, refill, ban, operations, concurrency };
    if (!hasMore) return terms;
    const [month, flights] = [this.#double(), this.#double()];
    return {
      ...terms,
      limits: month === NO_LIMIT ? limits : { ...limits, month: limitOf(month) },
      concurrency: flights === 0 ? concurrency : flights,
    };
  }

  #withBalance(terms: Terms): Terms {
    return { ...terms, limits: { ...terms.limits, balance: this.#double() } };
  }

  #double(): number {
    this.#at += 8;
    return this.#answers.readDoubleLE(this.#at - 8);
  }

  /** Returns the bucket of a window. Must be called in the order of the operation's windows. */
  #bucketOf({ name }: Window, month: BucketState): BucketState {
    if (name === 'month') return month;
    return { level: this.#double(), atMs: this.#double() };
  }
}

/** Returns the script's response to `count` requests of a key that does not exist. */
export function unknownAnswers(count: number): Buffer {
  const unknown = Buffer.alloc(ANSWER_BYTES);
  unknown.writeUInt8(CODES.indexOf('unknown'));
  return Buffer.concat(new Array<Buffer>(count).fill(unknown));
}

function limitOf(limit: number): Limit {
  return limit < 0 ? 'unlimited' : limit;
}
