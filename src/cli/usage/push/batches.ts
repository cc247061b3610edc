import type { KeyedEvent, UsageEvent } from './event.js';

export interface Batch {
  readonly events: readonly UsageEvent[];
  /** The last key all of whose events are in this batch or one before; null when there is none yet. */
  readonly after: string | null;
}

/** @param events key by key, keys in order @param after events up to this key are left out */
export async function* batchesOf(
  events: AsyncIterable<KeyedEvent>,
  size: number,
  after: string | null,
): AsyncGenerator<Batch, void> {
  let waiting: UsageEvent[] = [];
  let whole = after;
  let key = after;
  for await (const { key: its, event } of events) {
    if (after !== null && its <= after) continue;
    if (its !== key) whole = key;
    key = its;
    waiting.push(event);
    if (waiting.length < size) continue;
    yield { events: waiting, after: whole };
    waiting = [];
  }
  if (waiting.length > 0) yield { events: waiting, after: key };
}
