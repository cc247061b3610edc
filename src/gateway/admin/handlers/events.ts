import { isoOrNull } from '../../accounts/edits.js';
import { subjectOf } from '../../store/outbox/event.js';
import type { OutboxEntry, OutboxState } from '../../store/outbox/event.js';
import { isCustomerId, isKeyId } from '../../accounts/token.js';
import { AdminRefusal } from '../answer.js';
import type { Answer } from '../answer.js';
import { inState, paging } from '../input/query.js';
import { Event, EventPage } from '../openapi/schemas.js';
import { handler } from '../route.js';

// Events that are not delivered; one that was is nowhere.

export const list = handler({
  query: { ...inState, ...paging((cursor) => isCursor(textOf(cursor))) },
  gives: EventPage,
  handle: async ({ parts, query: { state, limit, cursor } }) => {
    const page = await parts.engine.outbox.list(state, cursor === null ? null : textOf(cursor), limit);
    const next = page.cursor === null ? null : Buffer.from(page.cursor).toString('base64url');
    return { json: { events: page.entries.map(viewOf), cursor: next, enabled: parts.registry.emitsEvents } };
  },
});

export const show = handler({
  gives: Event,
  handle: async ({ parts, id }) => found(isEventId(id) ? await parts.engine.outbox.read(id) : undefined),
});

export const redeliver = handler({
  gives: Event,
  handle: async ({ parts, id }) => found(isEventId(id) ? await parts.engine.outbox.redeliver(id) : undefined),
});

function found(entry: OutboxEntry | undefined): Answer {
  if (entry !== undefined) return { json: viewOf(entry) };
  throw new AdminRefusal(
    404,
    'event_not_found',
    'No event of this id waits or is dead. One that was delivered is not kept.',
  );
}

export function viewOf({ event: { id, type, atMs, data }, attempts, failure, dueAtMs, deadAtMs }: OutboxEntry): object {
  const [time, due, dead] = [atMs, dueAtMs, deadAtMs].map(isoOrNull);
  return { id, type, time, data, state: stateOf(atMs, deadAtMs), attempts, failure, due, dead };
}

function stateOf(atMs: number, deadAtMs: number | null): OutboxState {
  if (deadAtMs !== null) return 'dead';
  return atMs > Date.now() ? 'scheduled' : 'waiting';
}

/** Names of rows in the store are made of it: nothing else may be in there. */
function isEventId(id: string): boolean {
  const subject = subjectOf(id);
  return (isKeyId(subject) || isCustomerId(subject)) && /^[0-9A-Za-z-]{1,80}$/.test(id.slice(subject.length + 1));
}

function textOf(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}

function isCursor(text: string): boolean {
  const [, id = ''] = /^\d{1,16}[ \u001f]([0-9A-Za-z-]+)$/.exec(text) ?? [];
  return isEventId(id);
}
