import { happened, subjectOf, type Outbox, type OutboxEntry, type OutboxState } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { newEntry, readEntry, withdraw } from './entries.js';
import type { PendingEvents } from './pending.js';
import {
  EVENTS_COPIES,
  EVENTS_CUSTOMERS,
  EVENTS_DEAD,
  EVENTS_DUE,
  EVENTS_OPERATORS,
  EVENTS_WAITING,
  customerQueueName,
  eventsName,
} from '../keyspace/names.js';

/** Bounds how many arrivals one claim moves into the queue. */
const ARRIVALS_AT_ONCE = 100;
/** Bounds how many dead events one call removes. */
const FORGOTTEN_AT_ONCE = 100;

const CLAIM = loadScript('outbox/claim', { ARRIVALS_AT_ONCE });
const PAGE = loadScript('outbox/page');
const KEEP = loadScript('outbox/keep');

export function outboxOf(link: Link, pending: Pick<PendingEvents, 'idle' | 'collect'>): Outbox {
  const keep = async (entry: OutboxEntry): Promise<void> => {
    const { id } = entry.event;
    await link.run(KEEP, [eventsName(subjectOf(id))], [id, JSON.stringify(entry)]);
  };
  const nowMs = (): number => Math.round(link.storeMs(EVENTS_DUE));
  return {
    claim: (count, leaseMs) => claim(link, count, leaseMs),
    // The event first: an ID without one is removed when it is due.
    async delivered(id) {
      await link.command('hdel', eventsName(subjectOf(id)), id);
      await Promise.all([link.command('zrem', EVENTS_DEAD, id), withdraw(link, id)]);
    },
    async postpone(entry, pauseMs) {
      const { id } = entry.event;
      const dueAtMs = nowMs() + Math.round(pauseMs);
      await keep({ ...entry, dueAtMs });
      await link.command('zadd', EVENTS_OPERATORS, 'XX', dueAtMs.toString(), id);
    },
    async deadLetter(entry) {
      const deadAtMs = nowMs();
      await keep({ ...entry, dueAtMs: null, deadAtMs });
      await link.command('zadd', EVENTS_DEAD, deadAtMs.toString(), entry.event.id);
      await withdraw(link, entry.event.id);
    },
    async redeliver(id) {
      await pending.idle();
      const there = await readEntry(link, id);
      if (there === undefined) return undefined;
      const entry = newEntry(happened(there.event, nowMs()));
      await keep(entry);
      const at = nowMs().toString();
      await link.command('zadd', EVENTS_WAITING, entry.event.atMs.toString(), id);
      const isArrival = Number(await link.command('zadd', EVENTS_DUE, 'XX', 'CH', at, id)) === 1;
      if (!isArrival) await link.command('zadd', EVENTS_OPERATORS, at, id);
      await link.command('zrem', EVENTS_DEAD, id);
      return entry;
    },
    async read(id) {
      await pending.idle();
      return readEntry(link, id);
    },
    async list(state, cursor, count) {
      await pending.idle();
      const page = await pageOf(link, state === 'dead' ? EVENTS_DEAD : EVENTS_WAITING, state, cursor, count);
      const entries = await Promise.all(page.ids.map((id) => readEntry(link, id)));
      return { entries: entries.filter((entry) => entry !== undefined), cursor: page.cursor };
    },
    async figures() {
      const now = nowMs();
      const [waiting, dead, oldest] = await Promise.all([
        link.command('zcount', EVENTS_WAITING, '-inf', now.toString()),
        link.command('zcard', EVENTS_DEAD),
        link.command('zrange', EVENTS_WAITING, '0', '0', 'WITHSCORES') as Promise<readonly Buffer[]>,
      ]);
      // A future event has no age.
      const oldestMs = oldest[1] === undefined ? 0 : Math.max(0, now - Number(oldest[1]));
      return { waiting: Number(waiting), dead: Number(dead), oldestMs };
    },
    async forgetDead(keptMs) {
      const limit = ['LIMIT', '0', FORGOTTEN_AT_ONCE.toString()];
      const until = (nowMs() - keptMs).toString();
      const found = (await link.command('zrangebyscore', EVENTS_DEAD, '-inf', until, ...limit)) as Buffer[];
      const ids = found.map(String);
      await Promise.all(ids.map((id) => link.command('hdel', eventsName(subjectOf(id)), id)));
      if (ids.length > 0) await link.command('zrem', EVENTS_DEAD, ...ids);
      return ids.length < FORGOTTEN_AT_ONCE;
    },
    async collect(everyMs, isForced) {
      await forgetCopies(link);
      return pending.collect(everyMs, isForced);
    },
  };
}

async function claim(link: Link, count: number, leaseMs: number): Promise<readonly OutboxEntry[]> {
  const asked = [count, Math.round(leaseMs)].map(String);
  const ids = wordsOf(await link.run(CLAIM, [EVENTS_DUE, EVENTS_OPERATORS], asked));
  const entries = await Promise.all(ids.map((id) => readEntry(link, id)));
  // Delivered, or indexed for a move that never happened.
  await Promise.all(ids.filter((_, index) => entries[index] === undefined).map((id) => withdraw(link, id)));
  return entries.filter((entry) => entry !== undefined);
}

/** Removes what 0.3 stored for customers' webhooks. */
async function forgetCopies(link: Link): Promise<void> {
  const membersOf = async (set: string) => ((await link.command('zrange', set, '0', '-1')) as Buffer[]).map(String);
  for (const id of await membersOf(EVENTS_COPIES)) await link.command('hdel', eventsName(subjectOf(id)), id);
  for (const customer of await membersOf(EVENTS_CUSTOMERS)) await link.command('del', customerQueueName(customer));
  await Promise.all([EVENTS_COPIES, EVENTS_CUSTOMERS].map((set) => link.command('del', set)));
}

/** Members of a sorted set after a cursor, by score and name, and the next cursor; those of one state, or all. */
export async function pageOf(
  link: Link,
  set: string,
  state: OutboxState | 'all',
  cursor: string | null,
  count: number,
): Promise<{ readonly ids: readonly string[]; readonly cursor: string | null }> {
  const [score = '-1', last = ''] = cursor?.split(' ') ?? [];
  const words = wordsOf(await link.run(PAGE, [set], [score, last, count.toString(), state]));
  const ids = words.filter((_, n) => n % 2 === 0);
  return { ids, cursor: ids.length < count ? null : `${words.at(-1)} ${ids.at(-1)}` };
}

function wordsOf(answer: Buffer): readonly string[] {
  return answer
    .toString()
    .split(' ')
    .filter((word) => word !== '');
}
