import { isCustomerId, isKeyId } from '../../accounts/token.js';
import { subjectOf, type OutboxEntry } from '../../store/outbox/event.js';
import { AdminRefusal, type Answer } from '../answer.js';
import { inState, paging, textCursor, textOf } from '../input/query.js';
import { Event, EventPage } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';
import { eventView } from './views.js';

const EVENTS = '/admin/v1/events';

/** Events that are not delivered; one that was is nowhere. */
export const EVENT_ROUTES: readonly Route[] = [
  route(`GET ${EVENTS}`, 'read', 'Events that wait, the oldest first, are to come, or are dead', {
    query: { ...inState, ...paging((cursor) => isCursor(textOf(cursor))) },
    gives: EventPage,
    handle: async ({ parts, query: { state, limit, cursor } }) => {
      const page = await parts.engine.outbox.list(state, cursor === null ? null : textOf(cursor), limit);
      const events = page.entries.map(eventView);
      return { json: { events, cursor: textCursor(page.cursor), enabled: parts.registry.emitsEvents } };
    },
  }),
  route(`GET ${EVENTS}/{id}`, 'read', 'One undelivered event', {
    gives: Event,
    handle: async ({ parts, id }) => found(isEventId(id) ? await parts.engine.outbox.read(id) : undefined),
  }),
  route(`POST ${EVENTS}/{id}/redeliver`, 'keys', 'Has an event delivered at once, under its id', {
    gives: Event,
    handle: async ({ parts, id }) => found(isEventId(id) ? await parts.engine.outbox.redeliver(id) : undefined),
  }),
];

function found(entry: OutboxEntry | undefined): Answer {
  if (entry !== undefined) return { json: eventView(entry) };
  const message = 'No event of this id waits or is dead. One that was delivered is not kept.';
  throw new AdminRefusal(404, 'event_not_found', message);
}

/** Names of rows in the store are made of it: nothing else may be in there. */
function isEventId(id: string): boolean {
  const subject = subjectOf(id);
  return (isKeyId(subject) || isCustomerId(subject)) && /^[0-9A-Za-z-]{1,80}$/.test(id.slice(subject.length + 1));
}

function isCursor(text: string): boolean {
  const [, id = ''] = /^\d{1,16}[ \u001f]([0-9A-Za-z-]+)$/.exec(text) ?? [];
  return isEventId(id);
}
