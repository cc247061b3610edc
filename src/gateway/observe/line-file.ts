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
  /** In the file: fewer than twice as many as are kept. */
  #lines = 0;
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
    const text = textIn(path);
    const lines = text.split('\n');
    this.#lines = lines.length - 1;
    // From the end: the file may have twice as many as are kept.
    for (const line of lines.toReversed()) if (this.#items.length < max) this.#items.push(...itemIn(line, form));
    this.#items.reverse();
    // No file yet, or its last line broke off: what is appended needs a line of its own.
    if (!text.endsWith('\n')) this.#rewrite(path);
  }

  /** The oldest first, `max` at most. */
  get items(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > this.#max) this.#items.shift();
    if (this.#path === null) return;
    this.#lines += 1;
    const path = this.#path;
    // Or the file would grow without end.
    if (this.#lines >= 2 * this.#max) this.#rewrite(path);
    else this.#write(() => appendFile(path, lineOf(item), { mode: 0o600 }));
  }

  #rewrite(path: string): void {
    this.#lines = this.#items.length;
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

/** Empty if there is no file, or it cannot be read. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
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
