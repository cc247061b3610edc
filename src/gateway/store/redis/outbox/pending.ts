import { setTimeout as sleep } from 'node:timers/promises';
import { payerOf } from '../../records/customer-id.js';
import type { GatewayEvent } from '../../outbox/event.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { idsIn } from '../link/ids.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { loadScript } from '../link/script.js';
import {
  accountName,
  CUSTOMER_INDEX,
  EVENTS_COLLECTING,
  EVENTS_DUE,
  eventsName,
  historyName,
  KEY_INDEX,
} from '../keyspace/names.js';
import { admissionEventOf, index, isSilent, newEntry, PENDING, readEntry } from './entries.js';
import { automaticBan } from '../../records/facts.js';

/**
 * Pending events. The step that causes an event cannot write into the outbox, because in a Cluster the outbox's index
 * is on another node. So it writes the event where it writes anyway, into the hash of the key or customer (entries.ts),
 * and sets the field `telling` there. The process that ran the step then moves the event: it enters the ID in the
 * index, not due yet, moves the event from the hash to the entries of its subject in one step, and makes it due.
 *
 * If that is interrupted, any process can repeat it: an ID without an entry is dropped when it is due, and an event
 * that was moved is not moved again. `collect` finds what a process that died has left. The same step adds an automatic
 * ban to the history of its key. If events are off, a ban is noted only for that. Readers of the history move it first.
 */
const RETRY_MS = 1_000;
const GRACE_DEADLINES = 8;
const GRACE_MS = 5_000;
/** How long the lock is held after each page: until then no other process looks through all keys. */
const COLLECTING_MS = 60_000;
const COLLECTED_AT_ONCE = 250;
/** Pause after each page, as a multiple of its time: a collection takes at most a fifth of Redis' time and ours. */
const COLLECTING_PAUSE = 4;
const MOVED_AT_ONCE = 16;
/** Batches that `idle` waits for: more than a page of `collect` needs. */
const BATCHES_AWAITED = 64;
const DONE = 'done';

const MOVE = loadScript('outbox/move');
const COLLECT = loadScript('outbox/collect');

export class PendingEvents {
  readonly #link: Link;
  readonly #replicas: Replicas;
  /** Time until an indexed event is due. Moving it takes less: a few calls, each with its deadline. */
  readonly #graceMs: number;
  /** Keys and customers that may have pending events. */
  readonly #waiting = new Set<string>();
  #moving: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(link: Link, replicas: Replicas, deadlineMs: number) {
    this.#link = link;
    this.#replicas = replicas;
    this.#graceMs = Math.max(GRACE_MS, GRACE_DEADLINES * deadlineMs);
  }

  /** Reports that these keys, or their customers, have pending events. Returns before they are moved. */
  add(keyIds: readonly string[]): void {
    for (const keyId of keyIds) this.#waiting.add(keyId).add(payerOf(keyId));
    this.#begin();
  }

  /** Resolves once the events added so far were tried; in a burst, only a part of them. */
  async idle(): Promise<void> {
    for (let batch = 0; batch < BATCHES_AWAITED && this.#moving !== undefined; batch += 1) await this.#moving;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
  }

  /**
   * Moves what any process has left, unless that was done within `everyMs` and `isForced` is false. Returns false if
   * another process is doing it. Rejects with StoreUnavailable.
   */
  async collect(everyMs: number, isForced: boolean): Promise<boolean> {
    const link = this.#link;
    const mine = await link.run(COLLECT, [EVENTS_COLLECTING], [COLLECTING_MS.toString(), isForced ? '1' : '0']);
    if (mine.toString() !== '1') return mine.toString() === DONE;
    for (const each of [KEY_INDEX, CUSTOMER_INDEX])
      for await (const ids of idsIn(link, each, null, COLLECTED_AT_ONCE)) {
        if (this.#closed) return true;
        const startedMs = performance.now();
        const marks = await Promise.all(ids.map((id) => link.command('hget', accountName(id), 'telling')));
        for (const [n, id] of ids.entries()) if (marks[n] !== null) this.#waiting.add(id);
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
    this.#moving = this.#moveSome().finally(() => {
      this.#moving = undefined;
      this.#begin();
    });
  }

  async #moveSome(): Promise<void> {
    const ids = [...this.#waiting].slice(0, MOVED_AT_ONCE);
    for (const id of ids) this.#waiting.delete(id);
    const moves = await Promise.allSettled(ids.map((id) => this.flush(id)));
    const failed = ids.filter((_, n) => moves[n]?.status === 'rejected');
    if (failed.length === 0) return;
    for (const id of failed) this.#waiting.add(id);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#begin();
    }, RETRY_MS).unref();
  }

  /** Moves everything noted in this key or customer to its place. Rejects with StoreUnavailable. */
  async flush(id: string): Promise<void> {
    const link = this.#link;
    const hash = await link.hash(accountName(id));
    if (!hash.has('telling')) return;
    const untilMs = performance.now() + this.#graceMs / 2;
    const [events, args]: [GatewayEvent[], string[]] = [[], []];
    let hasBans = false;
    for (const [field, value] of hash) {
      if (!field.startsWith(PENDING)) continue;
      const eventId = `${id}-${field.slice(PENDING.length)}`;
      const noted = value === '' ? undefined : admissionEventOf(id, field, value);
      const event = noted ?? (await readEntry(link, eventId))?.event;
      const isSent = !isSilent(value);
      if (event !== undefined && isSent) events.push(event);
      const ban = noted?.type === 'petgate.ban.started' ? JSON.stringify(automaticBan(noted)) : '';
      args.push(field, eventId, noted !== undefined && isSent ? JSON.stringify(newEntry(noted)) : '', ban);
      hasBans ||= ban !== '';
    }
    await this.#index(events, this.#graceMs);
    if (performance.now() > untilMs) throw new StoreUnavailable('the index took too long', { noEffect: true });
    await link.run(MOVE, [accountName(id), eventsName(id), ...(hasBans ? [historyName(id)] : [])], args);
    await this.#index(events, 0);
  }

  /** In a Cluster, the index is on another node than the key, with its own replicas. */
  async #index(events: readonly GatewayEvent[], graceMs: number): Promise<void> {
    const enter = async (): Promise<void> => {
      for (const event of events) await index(this.#link, event, graceMs);
    };
    if (events.length > 0) await (this.#link.cluster ? this.#replicas.confirmed(EVENTS_DUE, enter) : enter());
  }
}
