import { constants, setPriority } from 'node:os';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { readLedger } from '../admission/engines/open.js';
import type { Task } from './task.js';
import { writeReport } from './write.js';

/**
 * A process of its own for one report: takes a Task on standard input, because no command line may hold
 * REDIS_URL, and writes the report to standard output. The gateway's own loop and memory stay untouched,
 * and once the report has begun it gives way to the gateway.
 */
async function* withLowPriority(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = false;
  for await (const chunk of chunks) {
    yield chunk;
    if (begun) continue;
    begun = true;
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  }
}

const { format, range, settings } = (await json(process.stdin)) as Task;
try {
  await pipeline(withLowPriority(writeReport(format, range, readLedger(settings, range.from, range.to))), process.stdout);
} catch (error) {
  // Whoever asked may have gone; else the gateway tells.
  process.stderr.write(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
