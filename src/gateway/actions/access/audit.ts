import { join } from 'node:path';
import { z } from 'zod';
import { LineFile } from '../../observe/line-file.js';

const MAX_CHANGES = 5_000;
const MAX_REFUSED = 1_000;

const CHANGE = z.object({
  atMs: z.number(),
  /** The token's name, with the claim of `X-Petgate-Actor`. */
  actor: z.string(),
  /** The action's summary. */
  action: z.string(),
  kind: z.enum(['key', 'customer', 'token']).nullable(),
  id: z.string().nullable(),
  status: z.number(),
});
const REFUSED = z.object({ atMs: z.number(), address: z.string() });

type Change = z.output<typeof CHANGE>;

/**
 * The last 5,000 changes through this gateway and the last 1,000 wrong admin tokens, kept in the data folder. Each
 * record's history has the details.
 */
export class Audit {
  readonly #changes: LineFile<Change>;
  readonly #refused: LineFile<z.output<typeof REFUSED>>;

  /** @param folder the data folder; null to keep them in memory only */
  constructor(folder: string | null) {
    const path = (name: string): string | null => (folder === null ? null : join(folder, 'audit', `${name}.ndjson`));
    this.#changes = new LineFile(path('changes'), CHANGE, MAX_CHANGES);
    this.#refused = new LineFile(path('refused'), REFUSED, MAX_REFUSED);
  }

  changed(change: Omit<Change, 'atMs'>): void {
    this.#changes.add({ atMs: Date.now(), ...change });
  }

  refused(address: string): void {
    this.#refused.add({ atMs: Date.now(), address });
  }

  /** Returns the latest first. @param search part of actor, action or ID, case-insensitive */
  changes(search: string, count: number): readonly Change[] {
    const part = search.toLowerCase();
    const isFound = ({ actor, action, id }: Change): boolean =>
      [actor, action, id ?? ''].some((text) => text.toLowerCase().includes(part));
    return this.#changes.items.filter(isFound).slice(-count).reverse();
  }

  /** Returns the latest first. */
  refusals(count: number): readonly z.output<typeof REFUSED>[] {
    return this.#refused.items.slice(-count).reverse();
  }
}
