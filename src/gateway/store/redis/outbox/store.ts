import { happened, receiverOf, subjectOf } from '../../outbox/event.js';
import type { Outbox, OutboxEntry, OutboxState } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { loadScript } from '../link/script.js';
import { newEntry, readEntry, withdraw } from './entries.js';
import type { PendingEvents } from './pending.js';
import { queuesOf, wordsOf } from './queues.js';
import {
  EVENTS_COPIES,
  EVENTS_CUSTOMERS,
  EVENTS_DEAD,
  EVENTS_DUE,
  EVENTS_WAITING,
  eventsName,
  queueName,
} from '../names.js';

/** Bounds how many dead events one call forgets. */
const FORGOTTEN_AT_ONCE = 100;

const PAGE = loadScript('outbox/page');

const KEEP = loadScript('outbox/keep');

const SETS: Readonly<Record<OutboxState, readonly string[]>> = {
  waiting: [EVENTS_WAITING, EVENTS_COPIES],
  scheduled: [EVENTS_WAITING],
  dead: [EVENTS_DEAD],
};

export function outboxOf(link: Link, pending: Pick<PendingEvents, 'idle' | 'collect'>): Outbox {
  const keep = async (entry: OutboxEntry): Promise<void> => {
    const { id } = entry.event;
    await link.run(KEEP, [eventsName(subjectOf(id))], [id, JSON.stringify(entry)]);
  };
  const nowMs = (): number => Math.round(link.storeMs(EVENTS_DUE));
  return {
    ...queuesOf(link),
    // The event first: an id without one is forgotten when it is due.
    async delivered(id) {
      await link.command('hdel', eventsName(subjectOf(id)), id);
      await Promise.all([link.command('zrem', EVENTS_DEAD, id), withdraw(link, id)]);
    },
    async postpone(entry, pauseMs) {
      const { id } = entry.event;
      const dueAtMs = nowMs() + Math.round(pauseMs);
      await keep({ ...entry, dueAtMs });
      await link.command('zadd', queueName(receiverOf(id)), 'XX', dueAtMs.toString(), id);
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
      const [receiver, at] = [receiverOf(id), nowMs().toString()];
      await link.command('zadd', receiver === null ? EVENTS_WAITING : EVENTS_COPIES, entry.event.atMs.toString(), id);
      // One that is in no queue yet has to be copied first.
      const isArrival = Number(await link.command('zadd', EVENTS_DUE, 'XX', 'CH', at, id)) === 1;
      if (!isArrival) await link.command('zadd', queueName(receiver), at, id);
      if (receiver !== null) await link.command('zadd', EVENTS_CUSTOMERS, at, receiver);
      await link.command('zrem', EVENTS_DEAD, id);
      return entry;
    },
    async read(id) {
      await pending.idle();
      return readEntry(link, id);
    },
    async list(state, cursor, count) {
      await pending.idle();
      const pages = await Promise.all(SETS[state].map((set) => pageOf(link, set, state, cursor, count)));
      const page = pages.flat().sort(byDueTime).slice(0, count);
      const entries = await Promise.all(page.map(({ id }) => readEntry(link, id)));
      const last = page.length < count ? undefined : page.at(-1);
      return {
        entries: entries.filter((entry) => entry !== undefined),
        cursor: last === undefined ? null : `${last.score} ${last.id}`,
      };
    },
    async figures() {
      const now = nowMs();
      const [waiting, copies, dead, oldest] = await Promise.all([
        link.command('zcount', EVENTS_WAITING, '-inf', now.toString()),
        link.command('zcard', EVENTS_COPIES),
        link.command('zcard', EVENTS_DEAD),
        link.command('zrange', EVENTS_WAITING, '0', '0', 'WITHSCORES') as Promise<readonly Buffer[]>,
      ]);
      // What is to happen later has no age.
      const oldestMs = oldest[1] === undefined ? 0 : Math.max(0, now - Number(oldest[1]));
      return { waiting: Number(waiting) + Number(copies), dead: Number(dead), oldestMs };
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
    collect: (everyMs, anew) => pending.collect(everyMs, anew),
  };
}

interface ListedEntry {
  readonly id: string;
  readonly score: string;
}

function byDueTime(a: ListedEntry, b: ListedEntry): number {
  return Number(a.score) - Number(b.score) || (a.id < b.id ? -1 : 1);
}

/** Members of a sorted set behind a cursor, by score and name; of a state some, or all. */
export async function pageOf(
  link: Link,
  set: string,
  state: OutboxState | 'all',
  cursor: string | null,
  count: number,
): Promise<readonly ListedEntry[]> {
  const [score = '-1', last = ''] = cursor?.split(' ') ?? [];
  const words = wordsOf(await link.run(PAGE, [set], [score, last, count.toString(), state]));
  return words.flatMap((id, n) => (n % 2 === 0 ? { id, score: words[n + 1]! } : []));
}
