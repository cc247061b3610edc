import { Readable } from 'node:stream';
import type { LedgerOutcome } from '../../gateway/usage/rehearsal/ledger/rehearse.js';
import type { Connect } from '../admin/admin-client.js';
import { checkPlans } from './show.js';

/** Asks the gateway, which may take minutes. */
export async function rehearsedLedger(connect: Connect, file: string, month: string): Promise<LedgerOutcome> {
  const { readPlanFile } = await import('../../gateway/config/load.js');
  const plans = Readable.from([Buffer.from(JSON.stringify(readPlanFile(file)))]);
  const path = `/admin/v1/plans/rehearse?${new URLSearchParams({ month }).toString()}`;
  const outcome = (await (await connect()).upload(path, plans)) as unknown as LedgerOutcome;
  checkPlans(outcome.missingPlans, file);
  return outcome;
}
