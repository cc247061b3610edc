import { LOOK_AGAIN_MS } from '../../outbox/event.js';
import type { Outbox, OutboxEntry } from '../../outbox/event.js';
import type { Link } from '../link/link.js';
import { scriptOf } from '../link/script.js';
import { EVENTS_CUSTOMERS, EVENTS_DUE, EVENTS_OPERATORS, queueName } from '../names.js';
import { enterCopy, readEntry, withdraw } from './entries.js';

/** KEYS[1]: a queue. ARGV: how many, lease in ms. Answers what is due in it. */
const CLAIM = scriptOf(`
local ids = call('ZRANGEBYSCORE', KEYS[1], '-inf', clock, 'LIMIT', 0, ARGV[2])
for _, id in ipairs(ids) do call('ZADD', KEYS[1], clock + ARGV[3], id) end
return pack('<d', clock) .. ' ' .. table.concat(ids, ' ')
`);

/**
 * KEYS: the customers and the queue of one. ARGV: the customer, in how many ms it is due at the soonest, and at the
 * latest.
 */
const RELEASE = scriptOf(`
local head = call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if head[2] then
  call('ZADD', KEYS[1], math.max(math.min(head[2], clock + ARGV[4]), clock + ARGV[3]), ARGV[2])
else
  call('ZREM', KEYS[1], ARGV[2])
end
return pack('<d', clock) .. '1'
`);

/** From an event's arrival to the queues of its receivers, and out of these. */
export function queuesOf(link: Link): Pick<Outbox, 'arrivals' | 'distribute' | 'claim' | 'claimCustomers' | 'release'> {
  const take = async (queue: string, count: number, leaseMs: number): Promise<readonly string[]> =>
    wordsOf(await link.run(CLAIM, [queue], [count.toString(), Math.round(leaseMs).toString()]));
  const takeEntries = async (queue: string, count: number, leaseMs: number): Promise<readonly OutboxEntry[]> => {
    const ids = await take(queue, count, leaseMs);
    const entries = await Promise.all(ids.map((id) => readEntry(link, id)));
    // Delivered, or announced for a step that was never made.
    await Promise.all(ids.filter((_, place) => entries[place] === undefined).map((id) => withdraw(link, id)));
    return entries.filter((entry) => entry !== undefined);
  };
  return {
    async arrivals(count, leaseMs) {
      return (await takeEntries(EVENTS_DUE, count, leaseMs)).map(({ event }) => event);
    },
    async distribute(events) {
      if (events.length === 0) return;
      const at = Math.round(link.storeMs(EVENTS_DUE)).toString();
      await Promise.all(events.filter(({ to }) => to !== undefined).map((copy) => enterCopy(link, copy, at)));
      const own = events.filter(({ to }) => to === undefined);
      if (own.length > 0) await link.command('zadd', EVENTS_OPERATORS, 'NX', ...own.flatMap(({ id }) => [at, id]));
      await link.command('zrem', EVENTS_DUE, ...events.map(({ id }) => id));
    },
    claim: (receiver, count, leaseMs) => takeEntries(queueName(receiver), count, leaseMs),
    claimCustomers: (count, leaseMs) => take(EVENTS_CUSTOMERS, count, leaseMs),
    async release(customer, pauseMs) {
      const pauses = [Math.round(pauseMs).toString(), LOOK_AGAIN_MS.toString()];
      await link.run(RELEASE, [EVENTS_CUSTOMERS, queueName(customer)], [customer, ...pauses]);
    },
  };
}

export function wordsOf(answer: Buffer): readonly string[] {
  return answer
    .toString()
    .split(' ')
    .filter((word) => word !== '');
}
