/** What is told of, as CloudEvents types. */
export type EventType = 'petgate.key.created' | 'petgate.key.changed' | 'petgate.key.revoked';

/** Ids and figures only: names and notes may be about people. */
export interface EventData {
  readonly customer: string | null;
  readonly key: string;
  readonly plan: string;
  /** Of a changed key: the fields that are another now. */
  readonly changed?: readonly string[];
}

/** One fact. `id` is `<key id>-<12 base62>`, chosen before the step that writes it, and never changes. */
export interface GatewayEvent {
  readonly id: string;
  readonly type: EventType;
  /** Store time. */
  readonly atMs: number;
  readonly data: EventData;
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

/** Waiting ones from the oldest on, dead ones in the order in which they died. */
export type OutboxState = 'waiting' | 'dead';

export interface OutboxPage {
  readonly entries: readonly OutboxEntry[];
  /** Where the next page begins; null after the last. */
  readonly cursor: string | null;
}

export interface OutboxFigures {
  readonly waiting: number;
  readonly dead: number;
  /** Age of the oldest that waits; 0 when none does. */
  readonly oldestMs: number;
}

/**
 * Events from the step that wrote them (`KeyStore.write`) until somebody took them. Of several deliverers each
 * entry goes to one; when that dies, to another after the lease. Rejects with StoreUnavailable.
 */
export interface Outbox {
  /** Up to `count` entries that are due; nobody else gets them for `leaseMs`. */
  claim(count: number, leaseMs: number): Promise<readonly OutboxEntry[]>;
  /** Forgets an event: it was delivered. */
  delivered(id: string): Promise<void>;
  /** Keeps the entry's figures as they are given; it is due again after `pauseMs`. */
  postpone(entry: OutboxEntry, pauseMs: number): Promise<void>;
  /** Keeps the entry's figures; it is not due any more until somebody has it delivered again. */
  bury(entry: OutboxEntry): Promise<void>;
  /** Makes an event due at once, as if it had never been tried; undefined when there is none of that id. */
  redeliver(id: string): Promise<OutboxEntry | undefined>;
  read(id: string): Promise<OutboxEntry | undefined>;
  /** @param cursor of the page before, null for the first */
  list(state: OutboxState, cursor: string | null, count: number): Promise<OutboxPage>;
  figures(): Promise<OutboxFigures>;
  /** Forgets what has been dead for longer than `keptMs`. */
  forgetDead(keptMs: number): Promise<void>;
}
