import { payerOf } from '../records/customer-id.js';

/** What is notified of, as CloudEvents types. */
export const EVENT_TYPES = [
  'petgate.key.created',
  'petgate.key.changed',
  'petgate.key.revoked',
  'petgate.key.expiring',
  'petgate.ban.started',
  'petgate.quota.crossed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/**
 * Ids and figures, and of a ban the reason an operator gave: names and notes may be about people. Moments are ISO 8601.
 */
export interface EventData {
  readonly customer: string | null;
  readonly key: string;
  /** Absent for events that happen later than they are written. */
  readonly plan?: string;
  /** Of a changed key: the fields that are another now. */
  readonly changed?: readonly string[];
  /** Of a key that ends soon: when. */
  readonly ends?: string;
  /** Of a ban: its end, its level, and why. */
  readonly until?: string;
  readonly level?: number;
  readonly reason?: string | null;
  /**
   * Of a share that was crossed: of which window, which share in percent, the limit and how much was used, in units.
   */
  readonly window?: WarnedWindow;
  readonly threshold?: number;
  readonly limit?: number;
  readonly used?: number;
}

/** The windows that are warned of. */
export type WarnedWindow = 'day' | 'month';

/**
 * One fact. `id` is `<id of the key, or of the customer>-<letters, digits and ->`: chosen before the step that writes
 * it, or said by what happened, and it never changes.
 */
export interface GatewayEvent {
  readonly id: string;
  readonly type: EventType;
  /** Store time; for an event that happens later than it is written, when it happens. It is not due before. */
  readonly atMs: number;
  readonly data: EventData;
  /** The customer whose webhook it goes to; left out of what goes to the operators'. */
  readonly to?: string;
}

const COPIED = '-to-customer';

/** The reason of a ban that nobody started by hand. */
export const AFTER_REFUSALS = 'too many requests after 429';

/** Whether an operator gave this reason for a ban. */
export function isSaid(reason: string | null | undefined): boolean {
  return reason !== undefined && reason !== null && reason !== AFTER_REFUSALS;
}

/**
 * The same for the webhook of its customer: an entry of its own, which is delivered under the same id. What an operator
 * said of a ban is not for the customer.
 */
export function copyFor(event: GatewayEvent, customer: string): GatewayEvent {
  const { reason, ...data } = event.data;
  return { ...event, id: event.id + COPIED, to: customer, ...(isSaid(reason) ? { data } : {}) };
}

/** Whose queue the entry of an id stands in: that of a customer, or of the operators (null). */
export function receiverOf(id: string): string | null {
  return id.endsWith(COPIED) ? payerOf(subjectOf(id)) : null;
}

/** The event as one that has happened by now, also when it was to happen later. */
export function happened(event: GatewayEvent, nowMs: number): GatewayEvent {
  return event.atMs <= nowMs ? event : { ...event, atMs: nowMs };
}

/** The id that a receiver sees. */
export function pendingEventId({ id, to }: GatewayEvent): string {
  return to === undefined ? id : id.slice(0, -COPIED.length);
}

/** The key, or the customer, that an event is about. */
export function subjectOf(eventId: string): string {
  return eventId.slice(0, eventId.indexOf('-'));
}

/** What a step does to the outbox beside its own. */
export interface OutboxChange {
  readonly emit: readonly GatewayEvent[];
  /** Ids of events that will not happen after all. */
  readonly withdraw: readonly string[];
}

/** An event that is not delivered, with what became of the attempts. */
export interface OutboxEntry {
  readonly event: GatewayEvent;
  /** Attempts that failed. */
  readonly attempts: number;
  /** Why the last of them failed; null before the first. */
  readonly failure: string | null;
  /** When the next attempt is due; null until one has failed. Store time, as the next. */
  readonly dueAtMs: number | null;
  /** Since when nobody tries any more; null while somebody does. */
  readonly deadAtMs: number | null;
}

/**
 * Waiting ones from the oldest on, those that have not happened yet by when they will, dead ones in the order in which
 * they died.
 */
export const OUTBOX_STATES = ['waiting', 'scheduled', 'dead'] as const;
export type OutboxState = (typeof OUTBOX_STATES)[number];

export interface OutboxPage {
  readonly entries: readonly OutboxEntry[];
  /** Where the next page begins; null after the last. */
  readonly cursor: string | null;
}

export interface OutboxFigures {
  readonly waiting: number;
  readonly dead: number;
  /**
   * Age of the oldest that waits for the operators' webhook; 0 when none does. What has not happened yet counts in
   * neither.
   */
  readonly oldestMs: number;
}

/** A customer whose entries are none of them due yet is looked at again after so long, for those that came since. */
export const RECHECK_MS = 60_000;

/**
 * Events from the step that wrote them (`KeyStore.write`, an admission) until somebody took them. Each receiver has a
 * queue of its own, so that none waits for another. Of several deliverers each entry goes to one; when that dies, to
 * another after the lease. Rejects with StoreUnavailable.
 */
export interface Outbox {
  /** Up to `count` events that have happened and stand in no queue yet; nobody else gets them for `leaseMs`. */
  arrivals(count: number, leaseMs: number): Promise<readonly GatewayEvent[]>;
  /**
   * Puts arrivals, and copies of them for customers, into the queues of their receivers. What is there already stays as
   * it is.
   */
  distribute(events: readonly GatewayEvent[]): Promise<void>;
  /**
   * Up to `count` entries for a customer, or for the operators (null), that are due; nobody else gets them for
   * `leaseMs`.
   */
  claim(receiver: string | null, count: number, leaseMs: number): Promise<readonly OutboxEntry[]>;
  /** Up to `count` customers that entries are due for, who waits longest first; nobody else gets them for `leaseMs`. */
  claimCustomers(count: number, leaseMs: number): Promise<readonly string[]>;
  /** Gives back a customer: it is due again with its next entry, though not within `pauseMs`. */
  release(customer: string, pauseMs: number): Promise<void>;
  /** Forgets an event: it was delivered. */
  delivered(id: string): Promise<void>;
  /** Keeps the entry's figures as they are given; it is due again after `pauseMs`. */
  postpone(entry: OutboxEntry, pauseMs: number): Promise<void>;
  /** Makes it a dead letter, with its figures: it is not due any more until somebody has it delivered again. */
  deadLetter(entry: OutboxEntry): Promise<void>;
  /**
   * Makes an event due at once, as if it had never been tried; one that was to happen later happens now. Undefined when
   * there is none of that id.
   */
  redeliver(id: string): Promise<OutboxEntry | undefined>;
  read(id: string): Promise<OutboxEntry | undefined>;
  /** @param cursor of the page before, null for the first */
  list(state: OutboxState, cursor: string | null, count: number): Promise<OutboxPage>;
  figures(): Promise<OutboxFigures>;
  /**
   * Looks for events that an admission wrote and whose process died before they could be claimed, unless that was done
   * within `everyMs` and need not be done anew. True when it is done; false when another process is about it just now.
   */
  collect(everyMs: number, anew: boolean): Promise<boolean>;
  /** Forgets some of what has been dead for longer than `keptMs`. True when nothing of it is left. */
  forgetDead(keptMs: number): Promise<boolean>;
}
