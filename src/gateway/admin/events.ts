import { OUTBOX_STATES, subjectOf } from '../store/outbox/event.js';
import type { OutboxEntry, OutboxState } from '../store/outbox/event.js';
import { isCustomerId, isKeyId } from '../accounts/token.js';
import { AdminRefusal } from './answer.js';
import type { Answer } from './answer.js';
import { invalidQuery, readChoice, readPaging } from './input/query.js';
import type { Query } from './input/query.js';
import type { Call, Route } from './route.js';

/** Events that are not delivered; one that was is nowhere. */
export const EVENT_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/events',
    summary: 'Events that wait for delivery, the oldest first, that are still to happen, or dead ones',
    role: 'read',
    query: ['state', 'limit', 'cursor'],
    gives: [200, 'EventPage'],
    handle: list,
  },
  {
    method: 'GET',
    path: '/admin/v1/events/{id}',
    summary: 'One event that is not delivered',
    role: 'read',
    gives: [200, 'Event'],
    handle: show,
  },
  {
    method: 'POST',
    path: '/admin/v1/events/{id}/redeliver',
    summary: 'Has an event delivered at once, under the id it has; a scheduled one happens now',
    role: 'keys',
    gives: [200, 'Event'],
    handle: redeliver,
  },
];

async function list({ parts, query }: Call): Promise<Answer> {
  const state = readChoice(query, 'state', OUTBOX_STATES) ?? 'waiting';
  const { count } = readPaging(new Map([...query].filter(([name]) => name === 'limit')));
  const page = await parts.engine.outbox.list(state, readCursor(query), count);
  const cursor = page.cursor === null ? null : Buffer.from(page.cursor).toString('base64url');
  return { json: { events: page.entries.map(viewOf), cursor, enabled: parts.registry.tellsEvents } };
}

async function show({ parts, id }: Call): Promise<Answer> {
  return found(isEventId(id) ? await parts.engine.outbox.read(id) : undefined);
}

async function redeliver({ parts, id }: Call): Promise<Answer> {
  return found(isEventId(id) ? await parts.engine.outbox.redeliver(id) : undefined);
}

function found(entry: OutboxEntry | undefined): Answer {
  if (entry !== undefined) return { json: viewOf(entry) };
  throw new AdminRefusal(
    404,
    'event_not_found',
    'No event of this id waits or is dead. One that was delivered is not kept.',
  );
}

export function viewOf({ event, attempts, failure, dueAtMs, deadAtMs }: OutboxEntry): Record<string, unknown> {
  const { id, type, atMs, data } = event;
  const [due, dead] = [isoOrNull(dueAtMs), isoOrNull(deadAtMs)];
  return {
    id,
    type,
    time: new Date(atMs).toISOString(),
    data,
    state: stateOf(atMs, deadAtMs),
    attempts,
    failure,
    due,
    dead,
  };
}

function stateOf(atMs: number, deadAtMs: number | null): OutboxState {
  if (deadAtMs !== null) return 'dead';
  return atMs > Date.now() ? 'scheduled' : 'waiting';
}

function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** Names of rows in the store are made of it: nothing else may be in there. */
function isEventId(id: string): boolean {
  const subject = subjectOf(id);
  return (isKeyId(subject) || isCustomerId(subject)) && /^[0-9A-Za-z-]{1,80}$/.test(id.slice(subject.length + 1));
}

function readCursor(query: Query): string | null {
  const cursor = query.get('cursor');
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, id = ''] = /^\d{1,16}[ \u001f]([0-9A-Za-z-]+)$/.exec(text) ?? [];
  if (isEventId(id)) return text;
  throw invalidQuery('cursor must be the one that came with the page before.');
}
