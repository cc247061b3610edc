import { pino } from 'pino';
import type { Logger } from 'pino';

export type Log = Logger;

/**
 * A JSON-lines log on standard output, written at once: a buffered line dies with `kill -9`.
 * @param program name in each line's `program`
 * @param level pino level, `silent` included
 */
export function createLog(program: string, level: string): Log {
  return pino({
    level,
    base: { program, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
