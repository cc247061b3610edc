import { pino, type Logger } from 'pino';
import { openLines, writeLine } from './log-lines.js';

export type Log = Logger;

/**
 * A JSON-lines log on standard output. Lines of one event-loop turn are written together when the turn ends: as safe as
 * one by one but for the turn that a `kill -9` cuts, at a fraction of the cost. Nothing waits for whoever reads it:
 * what is too much to be kept for a reader that stands still is dropped and counted.
 * @param program name in each line's `program`
 * @param level pino level, `silent` included
 */
export function createLog(program: string, level: string): Log {
  openLines(program);
  return pino(
    {
      level,
      base: { program, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: writeLine },
  );
}
