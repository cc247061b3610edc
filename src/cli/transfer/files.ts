import { createReadStream, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Transform, type Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { AdminClient, Connect, Json } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import { progressOn } from '../terminal/progress.js';

/** Streams a file or standard input to the admin API, with progress on standard error. */
export async function upload(client: AdminClient, path: string, file: string, doing: string): Promise<Json> {
  const { lines, bytes } = openLines(file);
  const { meter, end } = metered(doing, bytes);
  lines.on('error', (error) => meter.destroy(unreadable(file, error)));
  return client.upload(path, lines.pipe(meter)).finally(() => {
    end();
    // After an early refusal, unread input, perhaps of a terminal, would keep the process waiting.
    lines.destroy();
  });
}

/** Copies a response to standard output, or into a file. */
export async function pourTo(connect: Connect, path: string, output: string | undefined): Promise<void> {
  const client = await connect();
  const { meter, end } = metered('reading');
  const pour = (out?: Writable): Promise<void> => client.pour(path, out, meter).finally(end);
  await (output === undefined ? pour() : intoFile(output, pour));
}

/** Returns a stream that shows the progress of what passes through it. */
function metered(doing: string, bytes?: number): { readonly meter: Transform; readonly end: () => void } {
  const progress = progressOn(process.stderr);
  let doneBytes = 0;
  const meter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      doneBytes += chunk.length;
      const fraction = bytes === undefined ? null : Math.min(doneBytes / bytes, 1);
      progress.show(fraction, `${doing}, ${(doneBytes / 1e6).toFixed(1)} MB`);
      done(null, chunk);
    },
  });
  return { meter, end: () => progress.end() };
}

function openLines(file: string): { readonly lines: Readable; readonly bytes: number | undefined } {
  if (file === '-') return { lines: process.stdin, bytes: undefined };
  try {
    return { bytes: statSync(file).size, lines: createReadStream(file) };
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): CommandError {
  return new CommandError(`${file} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}).`);
}

/** Renames the file only at the end: half an export must not look complete. */
async function intoFile(file: string, write: (out: Writable) => Promise<void>): Promise<void> {
  const part = `${file}.part`;
  try {
    // On disk before it has its name, also after a power cut.
    const out = (await open(part, 'w', 0o600)).createWriteStream({ flush: true });
    try {
      await write(out);
    } finally {
      await finished(out.end());
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof CommandError) throw error;
    throw new CommandError(`${file} can't be written (${code ?? 'unknown reason'}).`);
  }
}
