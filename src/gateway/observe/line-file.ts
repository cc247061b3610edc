import { readFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { z } from 'zod';

/**
 * Keeps the last `max` items in memory and in a file of JSON lines. Ignores errors of the file: items that cannot be
 * written or read are only missing after a restart.
 */
export class LineFile<T extends object> {
  readonly #path: string | null;
  readonly #max: number;
  #items: T[] = [];
  /** Lines in the file: fewer than 2 × `max`. */
  #lines = 0;
  /** Writes run one after the other; a disk that hangs delays only this file. */
  #written = Promise.resolve();

  /**
   * @param path null: items are only in memory
   * @param form lines that do not match, such as incomplete ones, are skipped
   */
  constructor(path: string | null, form: z.ZodType<T>, max: number) {
    this.#path = path;
    this.#max = max;
    if (path === null) return;
    const text = textIn(path);
    const lines = text.split('\n');
    this.#lines = lines.length - 1;
    // From the end: the file may have more than `max` lines.
    for (const line of lines.toReversed()) if (this.#items.length < max) this.#items.push(...itemIn(line, form));
    this.#items.reverse();
    // No file yet, or its last line is incomplete: appending would continue that line.
    if (!text.endsWith('\n')) this.#rewrite(path);
  }

  /** At most `max`, the oldest first. */
  get items(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > this.#max) this.#items.shift();
    if (this.#path === null) return;
    this.#lines += 1;
    const path = this.#path;
    // Otherwise the file would grow without limit.
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

/** Returns the file's text; empty if there is no file or it cannot be read. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the item as a line of JSON. */
export function lineOf(item: object): string {
  return `${JSON.stringify(item, (_, value: unknown) => (value === Infinity ? 'Infinity' : value))}\n`;
}

/** Returns the item of a line; none if the line does not match `form`. */
export function itemIn<T>(line: string, form: z.ZodType<T>): readonly T[] {
  try {
    return [form.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
