import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CUSTOMER_ID_LENGTH, payerOf } from '../../records/customer-id.js';
import { banEvent, crossedEvent } from '../../outbox/facts.js';
import type { GatewayEvent } from '../../outbox/event.js';
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
 *     moving                 until when, store time, and by whom they are being moved
 *     told                   crossings noted lately, so that none is noted twice
 *
 * The process that asked sees it in the answer and moves them to the outbox: first the entry, then its place in the
 * index, last the note goes. Only one does so at a time: what another had moved may be delivered by now. What breaks
 * off in between is done again, under the same id. What a process that died has left, `collect` finds.
 */
const PREFIX = 'tell-';
const DONE = 'done';
const BUSY = 'busy';
const RETRY_MS = 1_000;
/** For so long nobody else moves the same notes: a few calls, each with its deadline. */
const MOVING_MS = 10_000;
/** For so long after each page nobody else looks through all keys. */
const COLLECTING_MS = 60_000;
const COLLECTED_AT_ONCE = 250;
/** After each page so many times as long as it took: a look takes a fifth of Redis' time and ours at most. */
const COLLECTING_PAUSE = 4;
const MOVED_AT_ONCE = 16;
/** More than a page of `collect` may need. */
const BATCHES_AWAITED = 64;

/**
 * KEYS[1]: the hash of a key or a customer. ARGV: for how long, ms, and who. Answers its notes, fields and values one
 * to a line, which nobody else may move meanwhile; nothing where there are none; `busy` when somebody else is about it.
 */
const TAKE = scriptOf(`
local untilMs, who = string.match(call('HGET', KEYS[1], 'moving') or '0 ', '^(%d+) (.*)$')
if tonumber(untilMs) > clock and who ~= ARGV[3] then return pack('<d', clock) .. '${BUSY}' end
local fields, notes = call('HGETALL', KEYS[1]), {}
for n = 1, #fields, 2 do
  if string.sub(fields[n], 1, ${PREFIX.length}) == '${PREFIX}' then
    notes[#notes + 1] = fields[n]
    notes[#notes + 1] = fields[n + 1]
  end
end
if #notes > 0 then call('HSET', KEYS[1], 'moving', string.format('%.0f', clock + ARGV[2]) .. ' ' .. ARGV[3]) end
return pack('<d', clock) .. '\\n' .. table.concat(notes, '\\n')
`);

/**
 * KEYS[1]: who looks. ARGV: for how long, ms, and whether to look anew. Answers `1` when it is ours
 * to look, and `done` when that was done lately.
 */
const COLLECT = scriptOf(`
local there = call('GET', KEYS[1])
if there and not (there == '${DONE}' and ARGV[3] == '1') then return pack('<d', clock) .. (there == '${DONE}' and there or '0') end
call('SET', KEYS[1], '1', 'PX', ARGV[2])
return pack('<d', clock) .. '1'
`);

/** KEYS[1]: the hash of a key or a customer. ARGV: notes that were moved. */
const CLEAR = scriptOf(`
for n = 2, #ARGV do call('HDEL', KEYS[1], ARGV[n]) end
call('HDEL', KEYS[1], 'moving')
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
  /** Notes in the outbox that may still stand where they were noted, by key or customer. */
  readonly #entered = new Map<string, readonly string[]>();
  readonly #who = randomUUID();
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

  /** When it resolves, what was noted in this process before the call has been tried to be moved; of a burst a part. */
  async idle(): Promise<void> {
    for (let batch = 0; batch < BATCHES_AWAITED && this.#moving !== undefined; batch += 1) await this.#moving;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
  }

  /**
   * Moves what any process has left, unless that was done within `everyMs` and need not be done anew. False when
   * another is about it. Rejects with StoreUnavailable.
   */
  async collect(everyMs: number, anew: boolean): Promise<boolean> {
    const link = this.#link;
    const mine = await link.run(COLLECT, [EVENTS_COLLECTING], [COLLECTING_MS.toString(), anew ? '1' : '0']);
    if (mine.toString() !== '1') return mine.toString() === DONE;
    for (const index of [KEY_INDEX, CUSTOMER_INDEX])
      for await (const ids of idsIn(link, index, null, COLLECTED_AT_ONCE)) {
        if (this.#closed) return true;
        const startedMs = performance.now();
        const telling = await Promise.all(ids.map((id) => link.command('hget', nameOf(id), 'telling')));
        for (const [place, id] of ids.entries()) if (telling[place] !== null) this.#waiting.add(id);
        this.#begin();
        await this.idle();
        await link.command('set', EVENTS_COLLECTING, '1', 'PX', COLLECTING_MS.toString());
        await sleep((performance.now() - startedMs) * COLLECTING_PAUSE, undefined, { ref: false });
      }
    await link.command('set', EVENTS_COLLECTING, DONE, 'PX', everyMs.toString());
    return true;
  }

  #begin(): void {
    if (this.#moving !== undefined || this.#retry !== undefined || this.#waiting.size === 0 || this.#closed) return;
    this.#moving = this.#moveAll().finally(() => {
      this.#moving = undefined;
      this.#begin();
    });
  }

  /**
   * Those that could not be moved are tried again: notes stay, and what a process leaves that ends is there for
   * `collect`.
   */
  async #moveAll(): Promise<void> {
    const ids = [...this.#waiting].slice(0, MOVED_AT_ONCE);
    for (const id of ids) this.#waiting.delete(id);
    const areMoved = await Promise.all(ids.map((id) => this.#move(id).catch(() => false)));
    const left = ids.filter((_, place) => areMoved[place] === false);
    for (const id of left) this.#waiting.add(id);
    if (left.length === 0) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#begin();
    }, RETRY_MS).unref();
  }

  /** False when somebody else is about it. */
  async #move(id: string): Promise<boolean> {
    const notes = this.#entered.get(id) ?? (await this.#enter(id));
    if (notes === undefined) return false;
    // Whatever becomes of the next call: entered a second time they would be delivered a second time.
    this.#entered.set(id, notes);
    if (notes.length > 0) await this.#link.run(CLEAR, [nameOf(id)], notes);
    this.#entered.delete(id);
    return true;
  }

  /**
   * Enters what is noted into the outbox, and gives the names of the notes; undefined when somebody else is about it.
   */
  async #enter(id: string): Promise<readonly string[] | undefined> {
    const link = this.#link;
    const answer = (await link.run(TAKE, [nameOf(id)], [MOVING_MS.toString(), this.#who])).toString();
    if (answer === BUSY) return undefined;
    const lines = answer
      .split('\n')
      .slice(1)
      .filter((line) => line !== '');
    const fields = lines.filter((_, n) => n % 2 === 0);
    if (fields.length === 0) return fields;
    const events = fields.map((field, n) => eventOf(id, field.slice(PREFIX.length), lines[2 * n + 1]!));
    await putEntries(link, id, events);
    const announce = async (): Promise<void> => {
      for (const event of events) await announceEvent(link, event, 0);
    };
    await (link.cluster ? this.#replicas.confirmed(EVENTS_DUE, announce) : announce());
    return fields;
  }
}

/** Where the notes of a key or a customer stand. */
function nameOf(id: string): string {
  return id.length === CUSTOMER_ID_LENGTH ? customerName(id) : keyName(id);
}

/**
 * The event of a note: `<window>-<day it began>-<percent>-<limit>` or `ban-<its end>`, and what the script wrote of it.
 */
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
