/**
 * Loaded into a process before anything else (`--import`): its wall clock runs beside the machine's by as
 * many ms as the file `PETGATE_TEST_CLOCK` says, and steps when the file changes. Its monotonic clock does not.
 */
import { readFileSync } from 'node:fs';

const READ_EVERY_MS = 20;
const file = process.env['PETGATE_TEST_CLOCK'] ?? '';
const RealDate = Date;
let offsetMs = 0;

function read(): void {
  try {
    offsetMs = Number(readFileSync(file, 'utf8'));
  } catch {
    // It is about to be written.
  }
}

class SteppedDate extends RealDate {
  constructor(...args: readonly unknown[]) {
    super(...((args.length === 0 ? [SteppedDate.now()] : args) as [number]));
  }

  static override now(): number {
    return RealDate.now() + offsetMs;
  }
}

read();
setInterval(read, READ_EVERY_MS).unref();
globalThis.Date = SteppedDate as DateConstructor;
