import { createReadStream, realpathSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CommandError } from '../terminal/command-error.js';

const LINE_CHARACTERS = 1_048_576;
const CHUNK_BYTES = 262_144;

/** Returns the real path of each file; `-` is standard input. Throws CommandError if two are the same file. */
export function logFiles(files: readonly string[]): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const file of files) {
    const path = file === '-' ? '-' : realPathOf(file);
    if ([...paths.values()].includes(path))
      throw new CommandError(`${file} is named twice: its lines would count twice.`, 2);
    paths.set(file, path);
  }
  return paths;
}

/**
 * Yields the lines of a log (gzipped if `.gz`), many at a time. Not by node:readline, which buffers a line of any
 * length. Throws CommandError.
 */
export async function* linesOf(file: string, path: string): AsyncGenerator<readonly string[], void> {
  let rest = '';
  try {
    const input = open(path).setEncoding('utf8');
    for await (const chunk of input as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_CHARACTERS)
        throw new CommandError(`${file} has a line of more than 1,048,576 characters. Is it a gateway's JSON log?`);
      yield lines;
    }
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(file, error);
  }
  if (rest !== '') yield [rest];
}

function open(path: string): Readable {
  if (path === '-') return process.stdin;
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (!path.endsWith('.gz')) return file;
  const text = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => text.destroy(error));
  return file.pipe(text);
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): CommandError {
  return new CommandError(
    `The access log ${file} can't be read: ${error instanceof Error ? error.message : String(error)}.`,
  );
}
