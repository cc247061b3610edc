import { CUSTOMER_ID_LENGTH, payerOf } from '../../../customers/id.js';
import { banEvent, crossedEvent } from '../../../events/facts.js';
import type { GatewayEvent } from '../../../events/outbox.js';
import { idsIn } from '../link/ids.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { scriptOf } from '../link/script.js';
import { CUSTOMER_INDEX, customerName, EVENTS_COLLECTING, EVENTS_DUE, KEY_INDEX, keyName } from '../names.js';
import { announceEvent, putEntries } from './enter.js';

/**
 * Events of admissions. The script that decides can't write into the outbox: its index lies elsewhere, and while a
 * Cluster moves a slot no script may name what isn't there yet. So it notes them where it writes anyway, in the hash of
 * the key or the customer, in the same step (crossed.ts):
 *
 *     tell-<what happened>   one event that is not in the outbox yet, in short fields, so that the hash stays compact
 *     telling                `1` while there are such
 *     told                   crossings noted lately, so that none is noted twice
 *
 * The process that asked sees it in the answer and moves them to the outbox: first the entry, then its place in the
 * index, last the note goes. Whatever breaks off in between is done again, under the same id. What a process that died has
 * left, `collect` finds.
 */
const PREFIX = 'tell-';
const RETRY_MS = 1_000;
/** For so long nobody else looks; two that do harm nothing. */
const COLLECTING_MS = 10_000;
const COLLECTED_AT_ONCE = 250;

/** KEYS[1]: the hash of a key or a customer. ARGV: notes that were moved. */
const CLEAR = scriptOf(`
for n = 2, #ARGV do call('HDEL', KEYS[1], ARGV[n]) end
local fields = call('HGETALL', KEYS[1])
for n = 1, #fields, 2 do
  if string.sub(fields[n], 1, ${PREFIX.length}) == '${PREFIX}' then return pack('<d', clock) .. '0' end
end
call('HDEL', KEYS[1], 'telling')
return pack('<d', clock) .. '1'
`);

export class Noted {
  readonly #link: Link;
  readonly #replicas: Replicas;
  /** Keys and customers that notes are waiting for. */
  readonly #waiting = new Set<string>();
  #moving: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(link: Link, replicas: Replicas) {
    this.#link = link;
    this.#replicas = replicas;
  }

  /** Admissions of these keys noted something. Nobody waits for it. */
  add(keyIds: readonly string[]): void {
    for (const keyId of keyIds) this.#waiting.add(keyId).add(payerOf(keyId));
    this.#begin();
  }

  /** When it resolves, what was noted in this process before the call has been tried to be moved. */
  async idle(): Promise<void> {
    await this.#moving;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
  }

  /** Moves what any process has left. False when another is about it. Rejects with StoreUnavailable. */
  async collect(): Promise<boolean> {
    const expiry = ['PX', COLLECTING_MS.toString()];
    if ((await this.#link.command('set', EVENTS_COLLECTING, '1', 'NX', ...expiry)) === null) return false;
    for (const index of [KEY_INDEX, CUSTOMER_INDEX])
      for await (const ids of idsIn(this.#link, index, null, COLLECTED_AT_ONCE)) {
        if (this.#closed) return true;
        const telling = await Promise.all(ids.map((id) => this.#link.command('hget', nameOf(id), 'telling')));
        for (const [place, id] of ids.entries()) if (telling[place] !== null) await this.#move(id);
      }
    return true;
  }

  #begin(): void {
    if (this.#moving !== undefined || this.#retry !== undefined || this.#waiting.size === 0 || this.#closed) return;
    this.#moving = this.#moveAll().finally(() => {
      this.#moving = undefined;
      this.#begin();
    });
  }

  async #moveAll(): Promise<void> {
    for (const id of this.#waiting) {
      this.#waiting.delete(id);
      try {
        await this.#move(id);
      } catch {
        // The store is away. The notes stay; a process that ends before has left them for `collect`.
        this.#waiting.add(id);
        this.#retry = setTimeout(() => {
          this.#retry = undefined;
          this.#begin();
        }, RETRY_MS).unref();
        return;
      }
    }
  }

  async #move(id: string): Promise<void> {
    const link = this.#link;
    const notes = [...(await link.hash(nameOf(id)))].filter(([field]) => field.startsWith(PREFIX));
    if (notes.length === 0) return;
    const events = notes.map(([field, value]) => eventOf(id, field.slice(PREFIX.length), value));
    await putEntries(link, id, events);
    const announce = async (): Promise<void> => {
      for (const event of events) await announceEvent(link, event, 0);
    };
    await (link.cluster ? this.#replicas.confirmed(EVENTS_DUE, announce) : announce());
    await link.run(
      CLEAR,
      [nameOf(id)],
      notes.map(([field]) => field),
    );
  }
}

/** Where the notes of a key or a customer stand. */
function nameOf(id: string): string {
  return id.length === CUSTOMER_ID_LENGTH ? customerName(id) : keyName(id);
}

/** The event of a note: `<window>-<day it began>-<percent>-<limit>` or `ban-<its end>`, and what the script wrote of it. */
function eventOf(id: string, field: string, value: string): GatewayEvent {
  const [what = '', ...numbers] = field.split('-');
  const [startDay = 0, threshold = 0, limit = 0] = numbers.map(Number);
  const [figure = '', atMs = '', plan = '', keyName = ''] = value.split(' ');
  if (what === 'ban') return banEvent(id, plan, { untilMs: Number(numbers[0]), level: Number(figure) }, Number(atMs));
  const window = what === 'month' ? what : 'day';
  const crossing = { window, startDay, threshold, limit, used: Number(figure) } as const;
  return crossedEvent(id, keyIdIn(keyName) ?? id, plan, crossing, Number(atMs));
}

/** The key of a name as names.ts makes it. */
function keyIdIn(name: string): string | undefined {
  const [, tag, rest = ''] = /^petgate:\{([^}]+)\}([^:]*):key$/.exec(name) ?? [];
  return tag === undefined ? undefined : tag + rest;
}
