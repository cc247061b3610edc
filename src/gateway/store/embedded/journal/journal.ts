import {
  closeSync,
  fdatasync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { oneAtATime } from '../../../../shared/turns/one-at-a-time.js';

const [syncData, syncAll] = [promisify(fdatasync), promisify(fsync)];
const NAME = /^journal-(\d{12})$/;

/** Returns the numbers of the journal files in a folder, oldest first. */
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
 * Files to which each batch is appended before it is acknowledged. Appended data is in the page cache, so `kill -9`
 * loses nothing; `sync` writes it to the disk. A fold begins a new file, and deletes the older ones at its end.
 */
export class Journal {
  readonly #folder: string;
  /** Bytes of each file; the last one is growing. */
  readonly #sizes = new Map<number, number>();
  #number: number;
  #file: number;
  /** Finished files that may not be on the disk yet. */
  #ended: number[] = [];
  /** Whether the folder entry of the growing file may not be on the disk yet. */
  #isNew = true;
  /** Number of the last appended record, and of the last one on the disk. */
  appended: number;
  #synced: number;

  /** Begins a new file after the existing ones. @param last number of the last record written, or 0 */
  constructor(folder: string, last: number) {
    this.#folder = folder;
    for (const file of journalFiles(folder)) this.#sizes.set(file, statSync(journalPath(folder, file)).size);
    this.#number = Math.max(0, ...this.#sizes.keys()) + 1;
    this.#file = this.#begin();
    this.appended = last;
    this.#synced = last;
  }

  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** Writes the whole record or nothing. Throws the error of the write. */
  append(number: number, record: Buffer): void {
    this.#write(record);
    this.#sizes.set(this.#number, this.#size + record.length);
    this.appended = number;
  }

  /** Throws if a record could not be appended. */
  probe(record: Buffer): void {
    this.#write(record);
    ftruncateSync(this.#file, this.#size);
  }

  /** Writes everything appended before the call to the disk; resolves to the number of the last record there. */
  async sync(): Promise<number> {
    const wanted = this.appended;
    if (wanted > this.#synced) await this.#syncAll();
    return this.#synced;
  }

  /** Starts a new file; returns the number of the finished one. */
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

  /** Deletes the files up to this number, whose contents are in the store's file. */
  remove(upTo: number): void {
    for (const file of this.#sizes.keys()) {
      if (file > upTo) continue;
      rmSync(journalPath(this.#folder, file), { force: true });
      this.#sizes.delete(file);
    }
  }

  /** Waits for a running sync, which closes files too: closing a descriptor twice could close another file's. */
  async close(): Promise<void> {
    await this.#syncAll().catch(() => undefined);
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
    const upTo = this.appended;
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
