import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { runArchiveTask } from './archive.js';
import { openLedger } from '../archive/ledger.js';
import { writeReport } from '../report.js';
import { rehearsalAsJson } from '../rehearsal/ledger/rehearse.js';
import { reasonOf, type RehearsalTask, type ReportTask, type Task } from './task.js';

/** A separate process for one report, rehearsal or archive task (task.ts). */
const task = (await json(process.stdin)) as Task;
try {
  if (task.kind === 'report') await report(task);
  else if (task.kind === 'rehearsal') await rehearsal(task);
  else await runArchiveTask(task);
  // The gateway waits for the end of this process: no connection that closes late may delay it, so none is closed.
  process.exit();
} catch (error) {
  // The gateway reports it, unless the client has left.
  process.stderr.write(reasonOf(error), () => process.exit(1));
}

async function report({ format, range, settings }: ReportTask): Promise<void> {
  const ledger = openLedger(settings);
  await pipeline(writeReport(format, range, ledger, ledger.accounts), process.stdout);
}

async function rehearsal({ script, settings }: RehearsalTask): Promise<void> {
  const ledger = openLedger(settings);
  await pipeline(rehearsalAsJson(script, ledger, ledger.accounts), process.stdout);
}
