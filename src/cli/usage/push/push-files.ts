import { closeSync, createWriteStream, fsyncSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../../terminal/command-error.js';
import type { UsageEvent } from './event.js';

/** Events in a file next to the state: those of a day, of the corrections, or of the amounts of a month. */
interface EventFile {
  /** Length; anything beyond was never sent. */
  readonly bytes: number;
  /** Up to this offset its events were acknowledged. */
  readonly sent: number;
  /** A day that became final without a gateway may grow until that gateway returns. */
  readonly growth?: 'possible' | 'over';
}

/** The progress of a push. */
interface PushState {
  readonly version: 3;
  /** All final days up to this one were acknowledged; null before the first. */
  readonly doneThrough: string | null;
  /** The range of days that is being pushed, `to` included, from `day` on. */
  readonly running: { readonly from: string; readonly to: string; readonly day: string } | null;
  readonly files: Readonly<Record<string, EventFile>>;
  /** Corrections that version 0.3 sent: those made up to ten minutes before `to`, ISO 8601, and these event IDs. */
  readonly corrections: { readonly to: string; readonly ids: readonly string[] } | null;
  /** Amounts of all months up to this one were acknowledged; null before the first. */
  readonly amountsThrough: string | null;
}

const NOTHING = { version: 3, doneThrough: null, running: null, files: {}, corrections: null, amountsThrough: null };

/** The state of a push, and next to it a file of events for each topic: a day, the corrections, a month's amounts. */
export class PushFiles {
  readonly #path: string;
  readonly #parse: (line: string) => UsageEvent;
  #state: PushState;

  /** Throws CommandError if the file is not the state of a push. @param parse a line of a file of events */
  constructor(path: string, parse: (line: string) => UsageEvent) {
    this.#path = path;
    this.#parse = parse;
    this.#state = readState(path);
  }

  get state(): PushState {
    return this.#state;
  }

  fileOf(topic: string): EventFile {
    return this.#state.files[topic] ?? { bytes: 0, sent: 0 };
  }

  /** Replaces the state atomically: after a crash it is the previous one or this one. */
  save(change: Partial<PushState>): void {
    this.#state = { ...this.#state, ...change };
    mkdirSync(dirname(this.#path), { recursive: true });
    const fresh = `${this.#path}.${process.pid}.tmp`;
    writeFileSync(fresh, `${JSON.stringify(this.#state)}\n`, { mode: 0o600, flush: true });
    renameSync(fresh, this.#path);
    this.#syncFolder();
  }

  /** Saves what changed in a topic's file; null removes the file. */
  saveFile(topic: string, change: Partial<EventFile> | null, more: Partial<PushState> = {}): void {
    const { [topic]: file = this.fileOf(topic), ...others } = this.#state.files;
    this.save({ files: change === null ? others : { ...others, [topic]: { ...file, ...change } }, ...more });
    if (change === null) rmSync(this.#pathOf(topic), { force: true });
  }

  /** Yields a topic's events after the offset `from`, each with the offset of its end. Throws CommandError. */
  async *read(topic: string, from = 0): AsyncGenerator<{ readonly event: UsageEvent; readonly end: number }, void> {
    const [file, { bytes }] = [this.#pathOf(topic), this.fileOf(topic)];
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    if (size < bytes)
      throw new CommandError(
        `${file} is missing or too short. It has the events that were sent, and belongs to the state of the push: ` +
          'restore it, or name another --state to send everything again.',
      );
    if (from === bytes) return;
    const handle = await open(file);
    try {
      let end = from;
      for await (const line of handle.readLines({ start: from, end: bytes - 1 })) {
        end += Buffer.byteLength(line) + 1;
        yield { event: this.#parse(line), end };
      }
    } finally {
      await handle.close();
    }
  }

  /** Appends events, on disk when this resolves; to whether there were any. Cuts off what a killed push left. */
  async append(topic: string, events: Iterable<UsageEvent> | AsyncIterable<UsageEvent>): Promise<boolean> {
    const [file, { bytes }] = [this.#pathOf(topic), this.fileOf(topic)];
    if (bytes > 0) truncateSync(file, bytes);
    const out = createWriteStream(file, { flags: bytes > 0 ? 'a' : 'w', mode: 0o600, flush: true });
    const lines = async function* (): AsyncGenerator<string, void> {
      for await (const event of events) yield `${JSON.stringify(event)}\n`;
    };
    await pipeline(lines, out);
    this.#syncFolder();
    this.saveFile(topic, { bytes: bytes + out.bytesWritten });
    return out.bytesWritten > 0;
  }

  #pathOf(topic: string): string {
    return `${this.#path}.${topic}`;
  }

  /** So that a file's name survives a crash. */
  #syncFolder(): void {
    const folder = openSync(dirname(this.#path), 'r');
    fsyncSync(folder);
    closeSync(folder);
  }
}

/** Versions 0.3 and 0.4 wrote `days` and `correctionBytes` instead of `files`. */
type EarlierState = Partial<Omit<PushState, 'version'>> & { version?: number; days?: object; correctionBytes?: number };

/** Returns the state in `file`; that of a first run if there is no file. */
function readState(file: string): PushState {
  let reason = '';
  try {
    const found = JSON.parse(readFileSync(file, 'utf8')) as EarlierState | null;
    const { version, days, correctionBytes: bytes = 0, ...same }: EarlierState = found ?? {};
    const files = { ...days, ...(bytes === 0 ? {} : { corrections: { bytes, sent: bytes } }) };
    if (version === 2 || version === 3) return { ...NOTHING, files, ...same, version: 3 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...NOTHING, version: 3 };
    reason = `: ${String(error)}`;
  }
  throw new CommandError(
    `${file} is not a state of a push that this version can continue${reason}. Name another file with --state, or ` +
      'remove it and set --from: sending again does no harm.',
  );
}
