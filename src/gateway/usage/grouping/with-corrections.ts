import { noCounts, type UsageRow } from '../../store/records/counts.js';
import type { Accounts } from '../../store/ledger.js';
import { correctionsOf, type CorrectionsAsked, type CorrectionOf } from '../../store/records/correction.js';
import { mergeByKey } from '../archive/merge.js';
import type { Ledger } from './groups.js';

/** Adds corrections to the ledger: a key's among its rows, a customer's before its keys. */
export function withCorrections(ledger: Ledger, { keys, customers }: Accounts, asked: CorrectionsAsked): Ledger {
  return mergeByKey([ledger, rowsOf(correctionsOf(keys, asked)), rowsOf(correctionsOf(customers, asked))]);
}

async function* rowsOf(corrections: AsyncIterable<readonly CorrectionOf[]>): AsyncGenerator<readonly UsageRow[]> {
  for await (const some of corrections)
    yield some.map(({ subject: key, day, plan, requests, units }) => ({
      ...{ key, day, plan, operation: '', ...noCounts() },
      corrected: { requests, units },
    }));
}
