import { isCustomerId, isKeyId } from '../../accounts/token.js';
import { subjectOf, type OutboxEntry } from '../../store/outbox/event.js';
import { AdminRefusal, type Answer } from '../answer.js';
import { inState, storeCursor, storePaging, textCursor } from '../input/query.js';
import { Event, EventPage } from '../schemas.js';
import { action, type Action } from '../action.js';
import { eventView } from '../accounts/views.js';

const EVENTS = '/admin/v1/events';

const NONE: Readonly<Record<string, string>> = {
  waiting: 'No event waits.',
  scheduled: 'No event is scheduled.',
  dead: 'No dead events.',
};
const OFF =
  'Events are off: set PETGATE_EVENTS_URL and PETGATE_EVENTS_SECRET, and start the gateway again. There are none.';

/** Undelivered events. Delivered ones are not stored. */
export const EVENT_ACTIONS: readonly Action[] = [
  action(`GET ${EVENTS}`, 'read', 'List events that wait, are to come, or are dead; the oldest first', {
    commands: {
      usage: 'events list',
      example: '--state dead',
      prints: {
        list: 'events',
        columns: ['id', 'type', 'time', 'attempts', 'failure'],
        none: ({ state }, { enabled }) => (enabled === false ? OFF : (NONE[state ?? 'waiting'] ?? '')),
      },
    },
    query: { ...inState, ...storePaging(isCursor) },
    gives: EventPage,
    handle: async ({ parts, query: { state, limit, cursor } }) => {
      const page = await parts.engine.outbox.list(state, storeCursor(cursor), limit);
      const events = page.entries.map(eventView);
      return { json: { events, cursor: textCursor(page.cursor), enabled: parts.registry.emitsEvents } };
    },
  }),
  action(`GET ${EVENTS}/{id}`, 'read', 'Show one undelivered event', {
    commands: { usage: 'events show <id>', example: '5BkxuKZHANEf-ban-1764288000000' },
    gives: Event,
    handle: async ({ parts, id }) => found(isEventId(id) ? await parts.engine.outbox.read(id) : undefined),
  }),
  action(`POST ${EVENTS}/{id}/redeliver`, 'keys', 'Deliver an event immediately, under the same ID', {
    commands: {
      usage: 'events redeliver [id]',
      example: '--dead',
      prints: { done: (_, { ids }) => sentNow(ids as readonly string[]) },
      bulk: {
        option: 'dead',
        about: 'all that are no longer retried, instead of one',
        path: 'events?state=dead',
        list: 'events',
        isPaged: true,
      },
    },
    gives: Event,
    handle: async ({ parts, id }) => found(isEventId(id) ? await parts.engine.outbox.redeliver(id) : undefined),
  }),
];

function sentNow(ids: readonly string[]): string {
  return ids.length === 1 ? `Event ${ids[0]!} is sent now.` : `${ids.length} events are sent now.`;
}

function found(entry: OutboxEntry | undefined): Answer {
  if (entry !== undefined) return { json: eventView(entry) };
  const message = 'No event of this id waits or is dead. One that was delivered is not kept.';
  throw new AdminRefusal(404, 'event_not_found', message);
}

/** Checks the ID strictly, because names in the store contain it. */
function isEventId(id: string): boolean {
  const subject = subjectOf(id);
  return (isKeyId(subject) || isCustomerId(subject)) && /^[0-9A-Za-z-]{1,80}$/.test(id.slice(subject.length + 1));
}

function isCursor(text: string): boolean {
  const [, id = ''] = /^\d{1,16}[ \u001f]([0-9A-Za-z-]+)$/.exec(text) ?? [];
  return isEventId(id);
}
