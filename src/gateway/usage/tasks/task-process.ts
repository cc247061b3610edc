import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { deserialize } from 'node:v8';
import { runArchiveTask } from './archive.js';
import { openLedger } from '../archive/ledger.js';
import { writeReport } from '../report-text.js';
import { rehearsalAsJson } from '../rehearsal/ledger/rehearse.js';
import { reasonOf, type RehearsalTask, type ReportTask, type Task } from './task.js';

/** This process runs one report, rehearsal or archive task (task.ts). */
const task = deserialize(await buffer(process.stdin)) as Task;
try {
  if (task.kind === 'report') await report(task);
  else if (task.kind === 'rehearsal') await rehearsal(task);
  else await runArchiveTask(task);
  // The gateway waits for this process to end, so exit without closing connections, which may take long.
  process.exit();
} catch (error) {
  // The gateway reports what is on standard error.
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
