import type { Limit } from '../../../bucket.js';
import { verdictOf } from '../../../decide.js';
import type { Ruling } from '../../../decide.js';
import { termsOf } from '../../../plan.js';
import type { Plan, Plans, Terms } from '../../../plan.js';
import type { Subject } from '../../../port.js';
import type { Verdict } from '../../../verdict.js';
import { ANSWER_BYTES } from './script.js';
import { CODES } from './codes.js';
import { readState } from '../state.js';

/** The plans as the script numbers them. */
export type PlanTable = readonly { readonly plan: Plan; readonly terms: Terms | undefined }[];

export function planTable(plans: Plans): PlanTable {
  return [...plans.values()].map((plan) => ({ plan, terms: termsOf(plans, plan.name, null) }));
}

/** Reads the answer at `offset` (script.ts) about `subject`. `staged`: an import holds this key, so that nothing is decided yet. */
export function readAnswer(answers: Buffer, offset: number, table: PlanTable, subject: Subject): Verdict | 'staged' {
  const code = CODES[answers.readUInt8(offset)];
  if (code === undefined) throw new Error('an answer of the admission script has a code that nobody knows');
  switch (code) {
    case 'unknown':
    case 'disabled':
    case 'expired':
    case 'revoked':
    case 'no_plan':
      return { outcome: 'unknown_key', reason: code };
    case 'staged':
      return code;
    case 'out_of_scope':
      return standing(answers, offset, table, subject, 'admitted', false);
    case 'admitted':
    case 'limited':
    case 'banned':
    case 'ban_started':
      return standing(answers, offset, table, subject, code, true);
  }
}

/** What the script answers to `count` requests of a key that does not exist. */
export function unknownAnswers(count: number): Buffer {
  const unknown = Buffer.alloc(ANSWER_BYTES);
  unknown.writeUInt8(CODES.indexOf('unknown'));
  return Buffer.concat(new Array<Buffer>(count).fill(unknown));
}

function standing(
  answers: Buffer,
  offset: number,
  table: PlanTable,
  subject: Subject,
  ruling: Ruling,
  inScope: boolean,
): Verdict {
  const row = table[answers.readUInt8(offset + 1)];
  if (row === undefined) throw new Error('an answer of the admission script names a plan that it was not given');
  const terms = row.terms ?? {
    ...row.plan,
    plan: row.plan.name,
    limits: { minute: limitAt(answers, offset + 18), day: limitAt(answers, offset + 26) },
  };
  const key = subject.kind === 'key' ? { id: subject.id, version: answers.readDoubleLE(offset + 10) } : null;
  return verdictOf(readState(answers, offset + 34), terms, ruling, key, inScope, answers.readDoubleLE(offset + 2));
}

function limitAt(answers: Buffer, offset: number): Limit {
  const limit = answers.readDoubleLE(offset);
  return limit < 0 ? 'unlimited' : limit;
}
