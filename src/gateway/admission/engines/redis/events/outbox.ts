import type { GatewayEvent, Outbox, OutboxEntry, OutboxState } from '../../../events/outbox.js';
import type { Link } from '../link/link.js';
import { scriptOf } from '../link/script.js';
import { EVENTS_DEAD, EVENTS_DUE, EVENTS_WAITING, eventsName } from '../names.js';

/** Bounds how many dead events one call forgets. */
const FORGOTTEN_AT_ONCE = 100;

/** KEYS: the waiting and the due events. ARGV: id, when it was made, in how many ms it is due. */
const ENTER = scriptOf(`
call('ZADD', KEYS[1], ARGV[3], ARGV[2])
call('ZADD', KEYS[2], clock + ARGV[4], ARGV[2])
return pack('<d', clock) .. '1'
`);

/** KEYS: the waiting and the due events. ARGV: id. */
const LEAVE = scriptOf(`
call('ZREM', KEYS[1], ARGV[2])
call('ZREM', KEYS[2], ARGV[2])
return pack('<d', clock) .. '1'
`);

/** KEYS[1]: the due events. ARGV: how many, lease in ms. Answers their ids. */
const CLAIM = scriptOf(`
local ids = call('ZRANGEBYSCORE', KEYS[1], '-inf', clock, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do call('ZADD', KEYS[1], clock + ARGV[3], id) end
return pack('<d', clock) .. ' ' .. table.concat(ids, ' ')
`);

/** KEYS[1]: a sorted set. ARGV: score and id of the last of the page before, how many. Answers the next, by score and id. */
const PAGE = scriptOf(`
local score, last, count = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local at, page = call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[2]), {}
while #page < 2 * count do
  local found = call('ZRANGE', KEYS[1], at, at + count - 1, 'WITHSCORES')
  if #found == 0 then break end
  at = at + count
  for n = 1, #found, 2 do
    if #page < 2 * count and (tonumber(found[n + 1]) > score or found[n] > last) then
      page[#page + 1], page[#page + 2] = found[n], found[n + 1]
    end
  end
end
return pack('<d', clock) .. ' ' .. table.concat(page, ' ')
`);

/** KEYS[1]: the events of a key. ARGV: id and entry. Only what is there: another deliverer may have been quicker. */
const KEEP = scriptOf(`
if call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return pack('<d', clock) .. '0' end
call('HSET', KEYS[1], ARGV[2], ARGV[3])
return pack('<d', clock) .. '1'
`);

const INDEX = [EVENTS_WAITING, EVENTS_DUE];
const SETS: Readonly<Record<OutboxState, string>> = { waiting: EVENTS_WAITING, dead: EVENTS_DEAD };

/** What stands in the hash of a key's events when the step has just written it. */
export function newEntry(event: GatewayEvent): OutboxEntry {
  return { event, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };
}

/**
 * Enters an event in the index before the step that writes it, which may be on another node of a Cluster. It is
 * looked for after `graceMs`, when that step has been made or never will be; sooner when it is `ready`.
 */
export async function announceEvent(link: Link, { id, atMs }: GatewayEvent, graceMs: number): Promise<void> {
  await link.run(ENTER, INDEX, [id, atMs.toString(), graceMs.toString()]);
}

/** The step was made: the event is due at once. */
export async function ready(link: Link, id: string): Promise<void> {
  await link.command('zadd', EVENTS_DUE, 'XX', '0', id);
}

/** The step was refused: there is no event. */
export async function withdraw(link: Link, id: string): Promise<void> {
  await link.run(LEAVE, INDEX, [id]);
}

export function outboxOf(link: Link): Outbox {
  const read = async (id: string): Promise<OutboxEntry | undefined> => {
    const stored = (await link.command('hget', eventsName(keyOf(id)), id)) as Buffer | null;
    return stored === null ? undefined : (JSON.parse(stored.toString()) as OutboxEntry);
  };
  const keep = async (entry: OutboxEntry): Promise<void> => {
    const { id } = entry.event;
    await link.run(KEEP, [eventsName(keyOf(id))], [id, JSON.stringify(entry)]);
  };
  const forget = async (id: string): Promise<void> => {
    await link.command('hdel', eventsName(keyOf(id)), id);
    await link.command('zrem', EVENTS_DEAD, id);
  };
  const nowMs = (): number => Math.round(link.storeMs(EVENTS_DUE));
  return {
    async claim(count, leaseMs) {
      const ids = wordsOf(await link.run(CLAIM, [EVENTS_DUE], [count.toString(), leaseMs.toString()]));
      const entries = await Promise.all(ids.map(read));
      // Delivered, or announced for a step that was never made.
      await Promise.all(ids.filter((_, place) => entries[place] === undefined).map((id) => withdraw(link, id)));
      return entries.filter((entry) => entry !== undefined);
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
      const entry = newEntry(there.event);
      await announceEvent(link, there.event, 0);
      await keep(entry);
      await link.command('zrem', EVENTS_DEAD, id);
      return entry;
    },
    read,
    async list(state, cursor, count) {
      const [score = '-inf', last = ''] = cursor?.split(' ') ?? [];
      const words = wordsOf(
        await link.run(PAGE, [SETS[state]], [cursor === null ? '-1' : score, last, count.toString()]),
      );
      const ids = words.filter((_, n) => n % 2 === 0);
      const entries = await Promise.all(ids.map(read));
      const end = ids.length < count ? null : `${words.at(-1)!} ${words.at(-2)!}`;
      return { entries: entries.filter((entry) => entry !== undefined), cursor: end };
    },
    async figures() {
      const [waiting, dead, first] = await Promise.all([
        link.command('zcard', EVENTS_WAITING),
        link.command('zcard', EVENTS_DEAD),
        link.command('zrange', EVENTS_WAITING, '0', '0', 'WITHSCORES'),
      ]);
      const score = (first as Buffer[])[1];
      const oldestMs = score === undefined ? 0 : Math.max(0, nowMs() - Number(score.toString()));
      return { waiting: Number(waiting), dead: Number(dead), oldestMs };
    },
    async forgetDead(keptMs) {
      const limit = ['LIMIT', '0', FORGOTTEN_AT_ONCE.toString()];
      const until = (nowMs() - keptMs).toString();
      const ids = (await link.command('zrangebyscore', EVENTS_DEAD, '-inf', until, ...limit)) as Buffer[];
      for (const id of ids) await forget(id.toString());
    },
  };
}

/** The key that an event is about. */
function keyOf(eventId: string): string {
  return eventId.slice(0, eventId.indexOf('-'));
}

function wordsOf(answer: Buffer): readonly string[] {
  return answer
    .toString()
    .split(' ')
    .filter((word) => word !== '');
}
