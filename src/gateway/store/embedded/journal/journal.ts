import {
  closeSync,
  fdatasync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { oneAtATime } from '../../../../shared/one-at-a-time.js';

const [syncData, syncAll] = [promisify(fdatasync), promisify(fsync)];
const NAME = /^journal-(\d{12})$/;

/** Numbers of the journal's files in a folder, the oldest first. */
export function journalFiles(folder: string): readonly number[] {
  return readdirSync(folder)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

export function journalPath(folder: string, file: number): string {
  return join(folder, `journal-${String(file).padStart(12, '0')}`);
}

/**
 * Where each batch is written before it is answered. What was appended is in the page cache, so `kill -9` loses none of
 * it; `sync` puts it on the disk. A file ends when a fold begins, and goes when that has ended.
 */
export class Journal {
  readonly #folder: string;
  /** Bytes of each file that is there, the last being the one that grows. */
  readonly #sizes = new Map<number, number>();
  #number: number;
  #file: number;
  /** Files that grow no more, and are not all on the disk yet. */
  #ended: number[] = [];
  /** The folder may not have the name of the file that grows. */
  #isNew = true;
  #appended: number;
  #synced: number;

  /** Begins a new file behind those that are there. @param last number of the last record that was written, or 0 */
  constructor(folder: string, last: number) {
    this.#folder = folder;
    for (const file of journalFiles(folder)) this.#sizes.set(file, statSync(journalPath(folder, file)).size);
    this.#number = Math.max(0, ...this.#sizes.keys()) + 1;
    this.#file = this.#begin();
    this.#appended = last;
    this.#synced = last;
  }

  /** Number of the last record that was appended. */
  get appended(): number {
    return this.#appended;
  }

  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** All of it or nothing. Throws what writing throws. */
  append(number: number, record: Buffer): void {
    this.#write(record);
    this.#sizes.set(this.#number, this.#size + record.length);
    this.#appended = number;
  }

  /** Throws where a record could not be appended. */
  probe(record: Buffer): void {
    this.#write(record);
    ftruncateSync(this.#file, this.#size);
  }

  /** All that was appended before the call is on the disk when it resolves; gives the number of the last record. */
  async sync(): Promise<number> {
    const wanted = this.#appended;
    if (wanted > this.#synced) await this.#syncAll();
    return this.#synced;
  }

  /** What is appended from now on goes to a new file; gives the number of the one that has ended. */
  rotate(): number {
    const ended = this.#number;
    const file = this.#file;
    this.#number += 1;
    try {
      this.#file = this.#begin();
    } catch (error) {
      this.#number = ended;
      throw error;
    }
    this.#ended.push(file);
    this.#isNew = true;
    return ended;
  }

  /** Removes the files up to this one: the store's file has all that they say. */
  remove(upTo: number): void {
    for (const file of this.#sizes.keys()) {
      if (file > upTo) continue;
      rmSync(journalPath(this.#folder, file), { force: true });
      this.#sizes.delete(file);
    }
  }

  close(): void {
    for (const file of [...this.#ended, this.#file]) closeSync(file);
    this.#ended = [];
  }

  get #size(): number {
    return this.#sizes.get(this.#number) ?? 0;
  }

  #begin(): number {
    const file = openSync(journalPath(this.#folder, this.#number), 'ax', 0o600);
    this.#sizes.set(this.#number, 0);
    return file;
  }

  #write(record: Buffer): void {
    try {
      for (let at = 0; at < record.length;) at += writeSync(this.#file, record, at, record.length - at);
    } catch (error) {
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
  }

  readonly #syncAll = oneAtATime(async () => {
    const upTo = this.#appended;
    const [ended, isNew] = [[...this.#ended], this.#isNew];
    for (const file of [...ended, this.#file]) await syncData(file);
    if (isNew) await this.#syncFolder();
    for (const file of ended) closeSync(file);
    this.#ended = this.#ended.filter((file) => !ended.includes(file));
    this.#isNew &&= !isNew;
    this.#synced = upTo;
  });

  async #syncFolder(): Promise<void> {
    const folder = openSync(this.#folder, 'r');
    try {
      await syncAll(folder);
    } finally {
      closeSync(folder);
    }
  }
}

/** What a file of the journal holds. */
export function readJournal(folder: string, file: number): Buffer {
  return readFileSync(journalPath(folder, file));
}
