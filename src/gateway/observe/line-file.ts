import { readFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';

/**
 * The last items of a kind, in memory and in a file with a line of JSON for each. What cannot be written or read is
 * missing after a restart, and nothing else: the gateway does not depend on it.
 */
export class LineFile<T extends object> {
  readonly #path: string | null;
  readonly #max: number;
  #items: T[] = [];
  #appended = 0;
  /** One after the other; a disk that hangs holds up nothing but this file. */
  #written = Promise.resolve();

  /**
   * @param path null: nothing is written
   * @param form what a line must be: one that broke off, or that somebody else wrote, is left out
   */
  constructor(path: string | null, form: z.ZodType<T>, max: number) {
    this.#path = path;
    this.#max = max;
    if (path === null) return;
    try {
      this.#items = readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line) => itemIn(line, form))
        .slice(-max);
    } catch {
      // There is none yet, or it can't be read.
    }
    this.#rewrite(path);
  }

  /** The oldest first, `max` at most. */
  get items(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > this.#max) this.#items.shift();
    if (this.#path === null) return;
    this.#appended += 1;
    const path = this.#path;
    // Or the file would grow without end.
    if (this.#appended >= this.#max) this.#rewrite(path);
    else this.#write(() => appendFile(path, lineOf(item), { mode: 0o600 }));
  }

  #rewrite(path: string): void {
    this.#appended = 0;
    const text = this.#items.map(lineOf).join('');
    this.#write(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    });
  }

  #write(write: () => Promise<unknown>): void {
    this.#written = this.#written.then(write).then(
      () => undefined,
      () => undefined,
    );
  }
}

function lineOf(item: object): string {
  return `${JSON.stringify(item, (_, value: unknown) => (value === Infinity ? 'Infinity' : value))}\n`;
}

function itemIn<T>(line: string, form: z.ZodType<T>): readonly T[] {
  try {
    return [form.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
