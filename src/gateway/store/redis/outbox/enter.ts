import { receiverOf, subjectOf } from '../../outbox/event.js';
import type { GatewayEvent, OutboxEntry } from '../../outbox/event.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { ChangeUncertain } from '../../port.js';
import type { Link } from '../link/link.js';
import type { Replicas } from '../link/replicas.js';
import { scriptOf } from '../link/script.js';
import { EVENTS_COPIES, EVENTS_CUSTOMERS, EVENTS_DUE, EVENTS_WAITING, eventsName, queueName } from '../names.js';

/** KEYS: the waiting and the due events. ARGV: id, when it happens, in how many ms it is due at the soonest. */
const ENTER = scriptOf(`
call('ZADD', KEYS[1], ARGV[3], ARGV[2])
call('ZADD', KEYS[2], math.max(clock + ARGV[4], tonumber(ARGV[3])), ARGV[2])
return pack('<d', clock) .. '1'
`);

/** KEYS[1]: the events of a subject. ARGV: ids and entries. What is there stays: it may have been tried already. */
const PUT = scriptOf(`
for n = 2, #ARGV, 2 do
  if call('HEXISTS', KEYS[1], ARGV[n]) == 0 then call('HSET', KEYS[1], ARGV[n], ARGV[n + 1]) end
end
return pack('<d', clock) .. '1'
`);

/** What stands in the hash of a subject's events when the step has just written it. */
export function newEntry(event: GatewayEvent): OutboxEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };
}

/** Puts events of one subject in their place; whoever calls it enters them in the index next. */
export async function putEntries(link: Link, subject: string, events: readonly GatewayEvent[]): Promise<void> {
  const entries = events.flatMap((event) => [event.id, JSON.stringify(newEntry(event))]);
  await link.run(PUT, [eventsName(subject)], entries);
}

/**
 * Enters an event in the index before the step that writes it, which may be on another node of a Cluster. It is
 * looked for after `graceMs`, when that step has been made or never will be; sooner when it is `ready`.
 */
export async function announceEvent(link: Link, { id, atMs }: GatewayEvent, graceMs: number): Promise<void> {
  await link.run(ENTER, [EVENTS_WAITING, EVENTS_DUE], [id, atMs.toString(), graceMs.toString()]);
}

/** The step was made: the event is due as soon as it has happened. */
export async function ready(link: Link, { id, atMs }: GatewayEvent): Promise<void> {
  await link.command('zadd', EVENTS_DUE, 'XX', atMs.toString(), id);
}

/** Puts a copy into the queue of its customer, due at `at` by the store's clock, ms; what is there stays. */
export async function enterCopy(link: Link, copy: GatewayEvent, at: string): Promise<void> {
  const { id, atMs } = copy;
  const receiver = receiverOf(id)!;
  await putEntries(link, subjectOf(id), [copy]);
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

const GRACE_DEADLINES = 8;
const GRACE_MS = 5_000;

/** By then a step announced has been made, or never will be: a write is a few calls, each with its deadline. */
export function graceMsOf(deadlineMs: number): number {
  return Math.max(GRACE_MS, GRACE_DEADLINES * deadlineMs);
}

/** In a Cluster the index lies on another node than the key, whose replicas the write itself does not wait for. */
export async function announceSafely(
  link: Link,
  replicas: Replicas,
  event: GatewayEvent,
  graceMs: number,
): Promise<void> {
  const announced = (): Promise<void> => announceEvent(link, event, graceMs);
  if (!link.cluster) return announced();
  return replicas.confirmed(EVENTS_DUE, announced).catch((error: unknown) => {
    throw error instanceof ChangeUncertain
      ? new StoreUnavailable('no replica confirmed the event in time, so the key was not changed', { cause: error })
      : error;
  });
}
