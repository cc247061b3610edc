import { join } from 'node:path';
import { z } from 'zod';
import { DAY_MS, dayOf } from '../../../shared/utc-day.js';
import { oneAtATime } from '../../../shared/turns/one-at-a-time.js';
import { itemIn, LineFile, lineOf } from '../../observe/line-file.js';
import type { GatewayNotes } from '../../store/port.js';

const MAX_CHANGES = 5_000;
const MAX_REFUSED = 1_000;
/** Shared of each day and gateway. */
const SHARED = 200;
const SHARED_DAYS = 32;
const DAYS_AT_ONCE = 8;

/** A change, but for its time; `action` is the action's summary. */
export const CHANGED = {
  actor: z.string().describe('The name of the token, with what X-Petgate-Actor claims'),
  action: z.string(),
  kind: z.enum(['key', 'customer', 'token']).nullable(),
  id: z.string().nullable().describe('Of the record, whose history has the change'),
  status: z.int().min(0),
};
const CHANGE = z.object({ atMs: z.number(), ...CHANGED });
const REFUSED = z.object({ atMs: z.number(), address: z.string() });

type Change = z.output<typeof CHANGE>;

/**
 * The last 5,000 changes through this gateway and the last 1,000 wrong admin tokens, kept in the data folder. Gateways
 * on one store also read each other's changes of the past 31 days, at most 200 (50 kB) of each day and gateway. Each
 * record's history has the details.
 */
export class Audit {
  readonly #changes: LineFile<Change>;
  readonly #refused: LineFile<z.output<typeof REFUSED>>;

  readonly #notes: GatewayNotes | undefined;
  readonly #startMs = Date.now();
  readonly #share = oneAtATime(() => this.#write());

  /**
   * @param folder the data folder; null to keep them in memory only
   * @param notes where gateways read each other's changes, if this store has others
   */
  constructor(folder: string | null, notes?: GatewayNotes) {
    this.#notes = notes;
    const path = (name: string): string | null => (folder === null ? null : join(folder, 'audit', `${name}.ndjson`));
    this.#changes = new LineFile(path('changes'), CHANGE, MAX_CHANGES);
    this.#refused = new LineFile(path('refused'), REFUSED, MAX_REFUSED);
  }

  changed(change: Omit<Change, 'atMs'>): void {
    this.#changes.add({ atMs: Date.now(), ...change });
    // The next change writes those of the whole day again.
    this.#share().catch(() => undefined);
  }

  refused(address: string): void {
    this.#refused.add({ atMs: Date.now(), address });
  }

  /**
   * Returns the latest first, through any gateway on the store.
   * @param search words, each part of actor, action, kind or ID, case-insensitive
   */
  async changes(search: string, count: number): Promise<readonly Change[]> {
    const words = search.toLowerCase().split(/\s+/);
    const isFound = ({ actor, action, kind, id }: Change): boolean => {
      const text = `${actor} ${action} ${kind ?? ''} ${id ?? ''}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const own = this.#changes.items;
    // A process that ran here before may have written some of them.
    const known = new Set(own.map(lineOf));
    const isOther = (change: Change): boolean => isFound(change) && !known.has(lineOf(change));
    const found = [...own.filter(isFound), ...(await this.#others(isOther, count).catch(() => []))];
    return found.sort((one, other) => other.atMs - one.atMs).slice(0, count);
  }

  /** Writes the changes through this process today for the other gateways. */
  async #write(): Promise<void> {
    const today = dayOf(Date.now());
    const latest = this.#changes.items.slice(-SHARED);
    const changes = latest.filter(({ atMs }) => atMs >= this.#startMs && dayOf(atMs) === today);
    await this.#notes?.write(nameOf(today), JSON.stringify(changes), SHARED_DAYS * DAY_MS);
  }

  /** Reads what the other gateways wrote: at least the latest `count` changes. */
  async #others(isWanted: (change: Change) => boolean, count: number): Promise<readonly Change[]> {
    const notes = this.#notes;
    if (notes === undefined) return [];
    // From tomorrow on: the clocks of the gateways may differ.
    const days = Array.from({ length: SHARED_DAYS }, (_, n) => dayOf(Date.now() + (1 - n) * DAY_MS));
    const found: Change[] = [];
    for (let from = 0; from < days.length && found.length < count; from += DAYS_AT_ONCE) {
      const read = await Promise.all(days.slice(from, from + DAYS_AT_ONCE).map((day) => notes.read(nameOf(day))));
      const texts = read.flatMap((byGateway) => [...byGateway].filter(([gateway]) => gateway !== notes.own));
      found.push(...texts.flatMap(([, text]) => itemIn(text, z.array(CHANGE)).flat()).filter(isWanted));
    }
    return found;
  }

  /** Returns the latest first. */
  refusals(count: number): readonly z.output<typeof REFUSED>[] {
    return this.#refused.items.slice(-count).reverse();
  }
}

function nameOf(day: string): string {
  return `audit:${day}`;
}
