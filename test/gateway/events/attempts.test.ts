import { pino } from 'pino';
import t from 'tap';
import type { OutboxEntry } from '../../../src/gateway/store/outbox/event.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import { Attempts } from '../../../src/gateway/events/attempts.js';
import { until } from '../../servers/until.js';

const EVENT = { id: 'key-1', type: 'petgate.key.created', atMs: 1, data: { customer: null, key: 'key' } } as const;
const ENTRY: OutboxEntry = { event: EVENT, attempts: 0, failure: null, dueAtMs: null, deadAtMs: null };

/** Attempts that are always taken, at a store that may be unavailable. */
function open(store: { isUnavailable: boolean }) {
  const [sent, forgotten]: [string[], string[]] = [[], []];
  const attempts = new Attempts({
    outbox: {
      delivered: (id) =>
        store.isUnavailable ? Promise.reject(new StoreUnavailable('away')) : Promise.resolve(void forgotten.push(id)),
      postpone: () => Promise.resolve(),
      deadLetter: () => Promise.resolve(),
    },
    send: ({ id }) => (sent.push(id), Promise.resolve({ kind: 'delivered' })),
    timeoutMs: 1_000,
    retryMs: 1_000,
    attempted: () => undefined,
    log: pino({ level: 'silent' }),
  });
  return { attempts, sent, forgotten };
}

t.test(
  'what was delivered while the store is unavailable is sent no second time, and forgotten when it is back',
  async (t) => {
    const store = { isUnavailable: true };
    const { attempts, sent, forgotten } = open(store);
    const first = attempts.make(ENTRY, Infinity);
    await until('it is sent', () => sent.length === 1);
    await attempts.make(ENTRY, Infinity);
    store.isUnavailable = false;
    await first;
    t.same([sent, forgotten], [['key-1'], ['key-1']]);
  },
);

t.test('a claim that has grown old is not used: somebody else may have it', async (t) => {
  const { attempts, sent } = open({ isUnavailable: false });
  const { leaseMs, untilMs } = attempts.claim();
  t.ok(
    untilMs - performance.now() + 1_000 < leaseMs,
    'there is time for the attempt, and for the store to learn of it',
  );
  await attempts.make(ENTRY, performance.now() - 1);
  t.same(sent, []);
  await attempts.make(ENTRY, untilMs);
  t.same(sent, ['key-1']);
});
