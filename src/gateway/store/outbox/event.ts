/** The event types, as CloudEvents `type` values. */
export const EVENT_TYPES = [
  'petgate.key.created',
  'petgate.key.changed',
  'petgate.key.revoked',
  'petgate.key.expiring',
  'petgate.ban.started',
  'petgate.quota.crossed',
  'petgate.balance.low',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * IDs and figures, and the reason that an operator gave for a ban; no names or notes, which may be about people. Times
 * are ISO 8601.
 */
export interface EventData {
  readonly customer: string | null;
  readonly key: string;
  /** Absent for scheduled events, which are written before they happen. */
  readonly plan?: string;
  /** For a changed key: the fields that changed. */
  readonly changed?: readonly string[];
  /** For a key that expires soon: when it expires. */
  readonly ends?: string;
  /** For a ban: its end, level and reason; a null reason means that the operator gave none. */
  readonly until?: string;
  readonly level?: number;
  readonly reason?: string | null;
  /** For a crossed share of a limit: the window, the share in percent, the limit, and what was used of it, in units. */
  readonly window?: WarnedWindow;
  readonly threshold?: number;
  readonly limit?: number;
  readonly used?: number;
}

/** The windows with usage warnings. */
export type WarnedWindow = 'day' | 'month' | 'balance';

/**
 * One event. `id` is `<ID of the key or customer>-<letters, digits and ->`. It is chosen before the step that writes
 * the event, or derived from what happened, and never changes.
 */
export interface GatewayEvent {
  readonly id: string;
  readonly type: EventType;
  /** Store time of the event; for a scheduled event, when it will happen. It is not due before. */
  readonly atMs: number;
  readonly data: EventData;
}

/** The reason of an automatic ban. */
export const AFTER_REFUSALS = 'too many requests after 429';

/** Returns whether an operator gave this reason for a ban. */
export function isOperatorsReason(reason: string | null | undefined): boolean {
  return reason !== undefined && reason !== null && reason !== AFTER_REFUSALS;
}

/** Returns whether it is a copy that version 0.3 made for a customer's webhook. Such copies are ignored. */
export function isCopy(id: string): boolean {
  return id.endsWith('-to-customer');
}

/** Returns the event as one that has happened: a scheduled event gets the time `nowMs`. */
export function happened(event: GatewayEvent, nowMs: number): GatewayEvent {
  return event.atMs <= nowMs ? event : { ...event, atMs: nowMs };
}

/** Returns the ID of the key or customer that an event is about. */
export function subjectOf(eventId: string): string {
  return eventId.slice(0, eventId.indexOf('-'));
}

/** The events that a change emits or withdraws in the same step. */
export interface OutboxChange {
  readonly emit: readonly GatewayEvent[];
  /** IDs of scheduled events that will not happen. */
  readonly withdraw: readonly string[];
}

export const NO_CHANGE: OutboxChange = { emit: [], withdraw: [] };

/** An undelivered event, and the state of its delivery. */
export interface OutboxEntry {
  readonly event: GatewayEvent;
  /** Number of failed attempts. */
  readonly attempts: number;
  /** Why the last attempt failed; null if none has. */
  readonly failure: string | null;
  /** When the next attempt is due, store time; null until one has failed, and for a dead letter. */
  readonly dueAtMs: number | null;
  /** When it became a dead letter, store time; null while delivery is still attempted. */
  readonly deadAtMs: number | null;
}

/**
 * The lists of the outbox. Waiting events are listed oldest first, scheduled ones by when they will happen, dead
 * letters by when they became dead.
 */
export const OUTBOX_STATES = ['waiting', 'scheduled', 'dead'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

const ENTRIES_AT_ONCE = 500;

/** Yields all undelivered events, a page at a time. */
export async function* allEntries(outbox: Outbox): AsyncGenerator<readonly OutboxEntry[], void> {
  for (const state of OUTBOX_STATES)
    for (let cursor: string | null = null, isMore = true; isMore; isMore = cursor !== null) {
      const page: OutboxPage = await outbox.list(state, cursor, ENTRIES_AT_ONCE);
      yield page.entries;
      ({ cursor } = page);
    }
}

export interface OutboxPage {
  readonly entries: readonly OutboxEntry[];
  /** Where the next page begins; null after the last. */
  readonly cursor: string | null;
}

export interface OutboxFigures {
  readonly waiting: number;
  readonly dead: number;
  /** Age of the oldest waiting event; 0 if there is none. Scheduled events count neither here nor as waiting. */
  readonly oldestMs: number;
}

/**
 * Events, from the step that writes them (`KeyStore.write`, an admission) until the webhook accepts them. Each event
 * goes to one deliverer; if that one dies, to another once the lease has expired. Rejects with StoreUnavailable.
 */
export interface Outbox {
  /** Returns up to `count` due entries; no other deliverer gets them for `leaseMs`. */
  claim(count: number, leaseMs: number): Promise<readonly OutboxEntry[]>;
  /** Removes a delivered event. */
  delivered(id: string): Promise<void>;
  /** Stores the attempts and failure of `entry`; it is due again after `pauseMs`. */
  postpone(entry: OutboxEntry, pauseMs: number): Promise<void>;
  /**
   * Makes it a dead letter, which is due again only if an operator redelivers it. Stores its attempts and failure.
   */
  deadLetter(entry: OutboxEntry): Promise<void>;
  /**
   * Makes an event due immediately, as if it had never been tried; a scheduled event happens now. Resolves to undefined
   * if no event has this ID.
   */
  redeliver(id: string): Promise<OutboxEntry | undefined>;
  read(id: string): Promise<OutboxEntry | undefined>;
  /** @param cursor from the previous page; null for the first */
  list(state: OutboxState, cursor: string | null, count: number): Promise<OutboxPage>;
  figures(): Promise<OutboxFigures>;
  /**
   * Looks for events whose process died before they could be claimed, unless that was done within `everyMs` and
   * `isForced` is false. Resolves to true if it is done; to false if another process is doing it now.
   */
  collect(everyMs: number, isForced: boolean): Promise<boolean>;
  /** Removes some of the dead letters older than `keptMs`. Resolves to true if none of these are left. */
  forgetDead(keptMs: number): Promise<boolean>;
}
