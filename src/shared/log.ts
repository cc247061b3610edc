import { pino, type Logger } from 'pino';
import { openLines, writeLine } from './log-lines.js';

export type Log = Logger;

/**
 * Creates a JSON-lines log on standard output. Lines of one event-loop turn are written together when the turn ends: as
 * safe as writing them one by one, except that `kill -9` loses those of the current turn, and at a fraction of the
 * cost. Nothing waits for the reader of the log: if it stalls, lines beyond a limit are dropped and counted.
 * @param program name in each line's `program`
 * @param level pino level, or `silent`
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
