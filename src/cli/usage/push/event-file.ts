import { createWriteStream, truncateSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../../terminal/command-error.js';
import type { UsageEvent } from './event.js';
import { syncFolderOf } from './state.js';

/** Yields the events in the first `bytes` of a file, each with the offset of its end. Throws CommandError. */
export async function* readEvents(
  file: string,
  bytes: number,
  parse: (line: string) => UsageEvent,
): AsyncGenerator<{ readonly event: UsageEvent; readonly end: number }, void> {
  if (bytes === 0) return;
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size < bytes)
    throw new CommandError(
      `${file} is missing or too short. It has the events that were sent, and belongs to the state of the push: ` +
        'restore it, or name another --state to send everything again.',
    );
  const handle = await open(file);
  try {
    let end = 0;
    for await (const line of handle.readLines({ end: bytes - 1 })) {
      end += Buffer.byteLength(line) + 1;
      yield { event: parse(line), end };
    }
  } finally {
    await handle.close();
  }
}

/**
 * Appends events to the first `bytes` of a file, on disk when this resolves. Cuts off the rest, which a killed push
 * left.
 * @returns the new length
 */
export async function appendEvents(
  file: string,
  bytes: number,
  events: Iterable<UsageEvent> | AsyncIterable<UsageEvent>,
): Promise<number> {
  if (bytes > 0) truncateSync(file, bytes);
  const out = createWriteStream(file, { flags: bytes > 0 ? 'a' : 'w', mode: 0o600, flush: true });
  const lines = async function* (): AsyncGenerator<string, void> {
    for await (const event of events) yield `${JSON.stringify(event)}\n`;
  };
  await pipeline(lines, out);
  syncFolderOf(file);
  return bytes + out.bytesWritten;
}
