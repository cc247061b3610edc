import { isCopy, subjectOf, type GatewayEvent, type OutboxEntry } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { EVENTS_DUE, EVENTS_OPERATORS, EVENTS_WAITING, eventsName } from '../names.js';

const INDEX = loadScript('outbox/index');

/** What stands in the hash of a subject's events when the event has just come. */
export function newEntry(event: GatewayEvent): OutboxEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };
}

export async function readEntry(link: Link, id: string): Promise<OutboxEntry | undefined> {
  if (isCopy(id)) return undefined;
  const stored = (await link.command('hget', eventsName(subjectOf(id)), id)) as Buffer | null;
  return stored === null ? undefined : (JSON.parse(stored.toString()) as OutboxEntry);
}

/** Enters an event in the index. It is due as soon as it has happened, though not within `graceMs`. */
export async function index(link: Link, { id, atMs }: GatewayEvent, graceMs: number): Promise<void> {
  await link.run(INDEX, [EVENTS_WAITING, EVENTS_DUE], [id, atMs.toString(), graceMs.toString()]);
}

/** There is no such event, or none any more. Last it goes from its queue: until then it comes up again. */
export async function withdraw(link: Link, id: string): Promise<void> {
  await link.command('zrem', EVENTS_WAITING, id);
  await Promise.all([EVENTS_DUE, EVENTS_OPERATORS].map((set) => link.command('zrem', set, id)));
}
