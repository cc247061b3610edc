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
}

/** The reason of a ban that nobody started by hand. */
export const AFTER_REFUSALS = 'too many requests after 429';

/** Whether an operator gave this reason for a ban. */
export function isSaid(reason: string | null | undefined): boolean {
  return reason !== undefined && reason !== null && reason !== AFTER_REFUSALS;
}

/** Version 0.3 made copies of events for webhooks of customers. They are as if they were not there. */
export function isCopy(id: string): boolean {
  return id.endsWith('-to-customer');
}

/** The event as one that has happened by now, also when it was to happen later. */
export function happened(event: GatewayEvent, nowMs: number): GatewayEvent {
  return event.atMs <= nowMs ? event : { ...event, atMs: nowMs };
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

export const NO_CHANGE: OutboxChange = { emit: [], withdraw: [] };

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
  /** Age of the oldest that waits; 0 when none does. What has not happened yet counts in neither. */
  readonly oldestMs: number;
}

/**
 * Events from the step that wrote them (`KeyStore.write`, an admission) until the webhook took them. Of several
 * deliverers each event goes to one; when that dies, to another after the lease. Rejects with StoreUnavailable.
 */
export interface Outbox {
  /** Up to `count` entries that are due; nobody else gets them for `leaseMs`. */
  claim(count: number, leaseMs: number): Promise<readonly OutboxEntry[]>;
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
