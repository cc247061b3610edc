import { happened, isCopy, subjectOf } from '../../../events/outbox.js';
import type { Outbox, OutboxEntry, OutboxState } from '../../../events/outbox.js';
import type { Link } from '../link/link.js';
import { scriptOf } from '../link/script.js';
import { announceEvent, newEntry, putEntries, withdraw } from './enter.js';
import type { Noted } from './noted.js';
import { EVENTS_DEAD, EVENTS_DUE, EVENTS_WAITING, eventsName } from '../names.js';

/** Bounds how many dead events one call forgets. */
const FORGOTTEN_AT_ONCE = 100;
const LOOKED_AT_AT_ONCE = 500;

/** KEYS[1]: the due events. ARGV: how many, lease in ms. Answers their ids. */
const CLAIM = scriptOf(`
local ids = call('ZRANGEBYSCORE', KEYS[1], '-inf', clock, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do call('ZADD', KEYS[1], clock + ARGV[3], id) end
return pack('<d', clock) .. ' ' .. table.concat(ids, ' ')
`);

/**
 * KEYS[1]: a sorted set. ARGV: score and id of the last of the page before, how many, and of which list. Answers the next,
 * by score and id. What has happened and what hasn't yet are one set.
 */
const PAGE = scriptOf(`
local score, last, count, most = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), 1 / 0
if ARGV[5] == 'waiting' then most = clock end
if ARGV[5] == 'scheduled' and score <= clock then score, last = clock + 1, '' end
local at, page = call('ZCOUNT', KEYS[1], '-inf', '(' .. score), {}
while #page < 2 * count do
  local found = call('ZRANGE', KEYS[1], at, at + count - 1, 'WITHSCORES')
  if #found == 0 then break end
  at = at + count
  for n = 1, #found, 2 do
    if tonumber(found[n + 1]) > most then count = #page / 2 end
    if #page < 2 * count and (tonumber(found[n + 1]) > score or found[n] > last) then
      page[#page + 1], page[#page + 2] = found[n], found[n + 1]
    end
  end
end
return pack('<d', clock) .. ' ' .. table.concat(page, ' ')
`);

/** KEYS[1]: the events of a subject. ARGV: id and entry. Only what is there: another deliverer may have been quicker. */
const KEEP = scriptOf(`
if call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], ARGV[2], ARGV[3])
return pack('<d', clock) .. '1'
`);

const SETS: Readonly<Record<OutboxState, string>> = {
  waiting: EVENTS_WAITING,
  scheduled: EVENTS_WAITING,
  dead: EVENTS_DEAD,
};

export function outboxOf(link: Link, noted: Pick<Noted, 'idle' | 'collect'>): Outbox {
  const read = async (id: string): Promise<OutboxEntry | undefined> => {
    const stored = (await link.command('hget', eventsName(subjectOf(id)), id)) as Buffer | null;
    return stored === null ? undefined : (JSON.parse(stored.toString()) as OutboxEntry);
  };
  const keep = async (entry: OutboxEntry): Promise<void> => {
    const { id } = entry.event;
    await link.run(KEEP, [eventsName(subjectOf(id))], [id, JSON.stringify(entry)]);
  };
  const forget = async (id: string): Promise<void> => {
    await link.command('hdel', eventsName(subjectOf(id)), id);
    await link.command('zrem', EVENTS_DEAD, id);
  };
  const nowMs = (): number => Math.round(link.storeMs(EVENTS_DUE));
  return {
    async claim(count, leaseMs) {
      await noted.idle();
      const ids = wordsOf(await link.run(CLAIM, [EVENTS_DUE], [count.toString(), leaseMs.toString()]));
      const entries = await Promise.all(ids.map(read));
      // Delivered, or announced for a step that was never made.
      await Promise.all(ids.filter((_, place) => entries[place] === undefined).map((id) => withdraw(link, id)));
      return entries.filter((entry) => entry !== undefined);
    },
    async enter(event) {
      await putEntries(link, subjectOf(event.id), [event]);
      await announceEvent(link, event, 0);
    },
    // The event first: an id without one is forgotten when it is due.
    async delivered(id) {
      await forget(id);
      await withdraw(link, id);
    },
    async postpone(entry, pauseMs) {
      const dueAtMs = nowMs() + Math.round(pauseMs);
      await keep({ ...entry, dueAtMs });
      await link.command('zadd', EVENTS_DUE, 'XX', dueAtMs.toString(), entry.event.id);
    },
    async bury(entry) {
      const deadAtMs = nowMs();
      await keep({ ...entry, dueAtMs: null, deadAtMs });
      await link.command('zadd', EVENTS_DEAD, deadAtMs.toString(), entry.event.id);
      await withdraw(link, entry.event.id);
    },
    async redeliver(id) {
      const there = await read(id);
      if (there === undefined) return undefined;
      const entry = newEntry(happened(there.event, nowMs()));
      await announceEvent(link, entry.event, 0);
      await keep(entry);
      await link.command('zrem', EVENTS_DEAD, id);
      return entry;
    },
    read,
    async list(state, cursor, count) {
      await noted.idle();
      const words = await pageOf(link, state, cursor, count);
      const ids = words.filter((_, n) => n % 2 === 0);
      const entries = await Promise.all(ids.map(read));
      const end = ids.length < count ? null : `${words.at(-1)!} ${words.at(-2)!}`;
      return { entries: entries.filter((entry) => entry !== undefined), cursor: end };
    },
    async figures() {
      const [waiting, dead, oldest] = await Promise.all([
        link.command('zcount', EVENTS_WAITING, '-inf', nowMs().toString()),
        link.command('zcard', EVENTS_DEAD),
        oldestOf(link, nowMs()),
      ]);
      return { waiting: Number(waiting), dead: Number(dead), oldestMs: oldest === undefined ? 0 : nowMs() - oldest };
    },
    async forgetDead(keptMs) {
      const limit = ['LIMIT', '0', FORGOTTEN_AT_ONCE.toString()];
      const until = (nowMs() - keptMs).toString();
      const ids = (await link.command('zrangebyscore', EVENTS_DEAD, '-inf', until, ...limit)) as Buffer[];
      for (const id of ids) await forget(id.toString());
    },
    collect: () => noted.collect(),
  };
}

/** When the oldest event happened that waits for the operators' webhook, ms. */
async function oldestOf(link: Link, nowMs: number): Promise<number | undefined> {
  for (let from = 0; ; from += LOOKED_AT_AT_ONCE) {
    const range = ['-inf', nowMs.toString(), 'WITHSCORES', 'LIMIT', from.toString(), LOOKED_AT_AT_ONCE.toString()];
    const words = ((await link.command('zrangebyscore', EVENTS_WAITING, ...range)) as Buffer[]).map(String);
    const place = words.findIndex((id, n) => n % 2 === 0 && !isCopy(id));
    if (place !== -1) return Number(words[place + 1]);
    if (words.length < 2 * LOOKED_AT_AT_ONCE) return undefined;
  }
}

/** Ids and scores of a page, in turns. */
async function pageOf(
  link: Link,
  state: OutboxState,
  cursor: string | null,
  count: number,
): Promise<readonly string[]> {
  const [score = '-1', last = ''] = cursor?.split(' ') ?? [];
  return wordsOf(await link.run(PAGE, [SETS[state]], [score, last, count.toString(), state]));
}

function wordsOf(answer: Buffer): readonly string[] {
  return answer
    .toString()
    .split(' ')
    .filter((word) => word !== '');
}
