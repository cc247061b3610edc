import { pino } from 'pino';
import type { Logger } from 'pino';

export type Log = Logger;

/**
 * A JSON-lines log on standard output. Lines of one event-loop turn are written together when the
 * turn ends: as safe as one by one but for the turn that a `kill -9` cuts, at a fraction of the cost.
 * @param program name in each line's `program`
 * @param level pino level, `silent` included
 */
export function createLog(program: string, level: string): Log {
  let gathered = '';
  const flush = (): void => {
    const text = gathered;
    gathered = '';
    if (text !== '') process.stdout.write(text);
  };
  const write = (line: string): void => {
    if (gathered === '') setImmediate(flush);
    gathered += line;
  };
  process.on('exit', flush);
  // Whoever read the log is gone: that is no reason to stop serving.
  process.stdout.on('error', () => undefined);
  return pino(
    {
      level,
      base: { program, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
}
