import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { readLedger } from '../admission/engines/open.js';
import type { Task } from './task.js';
import { writeReport } from './write.js';

/**
 * A process of its own for one report: takes a Task on standard input, because no command line may hold
 * REDIS_URL, and writes the report to standard output. The gateway's own event loop and memory carry none of it.
 */
const { format, range, settings } = (await json(process.stdin)) as Task;
try {
  await pipeline(writeReport(format, range, readLedger(settings, range.from, range.to)), process.stdout);
} catch (error) {
  // Whoever asked may have gone; else the gateway reports it.
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
