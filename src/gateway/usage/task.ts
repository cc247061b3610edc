import { fileURLToPath } from 'node:url';
import { runProgram } from './archive/task.js';
import type { ArchiveSettings } from './archive/open.js';
import type { ReportRange } from './range.js';
import type { Format } from './write.js';

/** One report for a process of its own. */
export interface Task {
  readonly format: Format;
  readonly range: ReportRange;
  readonly settings: ArchiveSettings;
}

const PROGRAM = fileURLToPath(new URL('./process.js', import.meta.url));

/** The report as bytes, over store and archive. Rejects with StoreUnavailable or ArchiveUnavailable. A reader that stops early ends it. */
export function runTask(task: Task): AsyncGenerator<Buffer, void> {
  return runProgram(PROGRAM, task);
}
