import { receiverOf, subjectOf, type GatewayEvent, type OutboxEntry } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { EVENTS_COPIES, EVENTS_CUSTOMERS, EVENTS_DUE, EVENTS_WAITING, eventsName, queueName } from '../names.js';

const INDEX = loadScript('outbox/index');

const PUT = loadScript('outbox/put');

/** What stands in the hash of a subject's events when the event has just come. */
export function newEntry(event: GatewayEvent): OutboxEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };
}

export async function readEntry(link: Link, id: string): Promise<OutboxEntry | undefined> {
  const stored = (await link.command('hget', eventsName(subjectOf(id)), id)) as Buffer | null;
  return stored === null ? undefined : (JSON.parse(stored.toString()) as OutboxEntry);
}

/** Enters an event in the index. It is due as soon as it has happened, though not within `graceMs`. */
export async function index(link: Link, { id, atMs }: GatewayEvent, graceMs: number): Promise<void> {
  await link.run(INDEX, [EVENTS_WAITING, EVENTS_DUE], [id, atMs.toString(), graceMs.toString()]);
}

/** Puts a copy into the queue of its customer, due at `at` by the store's clock, ms; what is there stays. */
export async function enterCopy(link: Link, copy: GatewayEvent, at: string): Promise<void> {
  const { id, atMs } = copy;
  const receiver = receiverOf(id)!;
  await link.run(PUT, [eventsName(subjectOf(id))], [id, JSON.stringify(newEntry(copy))]);
  await link.command('zadd', EVENTS_COPIES, atMs.toString(), id);
  await link.command('zadd', queueName(receiver), 'NX', at, id);
  // One that is leased, or waits, has its time already.
  await link.command('zadd', EVENTS_CUSTOMERS, 'NX', at, receiver);
}

/** There is no such event, or none any more. Last it goes from its queue: until then it comes up again. */
export async function withdraw(link: Link, id: string): Promise<void> {
  const remove = (sets: readonly string[]): Promise<unknown> =>
    Promise.all(sets.map((set) => link.command('zrem', set, id)));
  await remove([EVENTS_WAITING, ...(receiverOf(id) === null ? [] : [EVENTS_COPIES])]);
  await remove([EVENTS_DUE, queueName(receiverOf(id))]);
}
