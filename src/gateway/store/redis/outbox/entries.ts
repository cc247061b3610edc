import { isCopy, subjectOf, type GatewayEvent, type OutboxEntry } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { EVENTS_DUE, EVENTS_OPERATORS, EVENTS_WAITING, eventsName } from '../names.js';

const INDEX = loadScript('outbox/index');

/** The entry of a new event in the hash of its subject's events. */
export function newEntry(event: GatewayEvent): OutboxEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };
}

export async function readEntry(link: Link, id: string): Promise<OutboxEntry | undefined> {
  if (isCopy(id)) return undefined;
  const stored = (await link.command('hget', eventsName(subjectOf(id)), id)) as Buffer | null;
  return stored === null ? undefined : (JSON.parse(stored.toString()) as OutboxEntry);
}

/** Adds an event to the index. It is due once it has happened, but not within `graceMs`. */
export async function index(link: Link, { id, atMs }: GatewayEvent, graceMs: number): Promise<void> {
  await link.run(INDEX, [EVENTS_WAITING, EVENTS_DUE], [id, atMs.toString(), graceMs.toString()]);
}

/** Removes an event from the index; from its queue last, because until then it is retried. */
export async function withdraw(link: Link, id: string): Promise<void> {
  await link.command('zrem', EVENTS_WAITING, id);
  await Promise.all([EVENTS_DUE, EVENTS_OPERATORS].map((set) => link.command('zrem', set, id)));
}
