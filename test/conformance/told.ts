import type { Test } from 'tap';
import { DAY_MS } from '../../src/gateway/admission/bucket.js';
import { banEvent } from '../../src/gateway/store/records/facts.js';
import type { GatewayEvent, Outbox } from '../../src/gateway/store/outbox/event.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { until } from '../servers/until.js';
import {
  ask,
  askMany,
  banned,
  change,
  custom,
  DAY_START_MS,
  freshId,
  keyOf,
  newCustomer,
  newKey,
  NOON_MS,
  requestOf,
  startBan,
} from './cast.js';

const MINUTE_MS = 60_000;
const PAGE = 500;
const TODAY = DAY_START_MS / DAY_MS;

/** Events of a key or a customer that are not delivered, the oldest first; those of tests happen in days to come. */
export async function toldOf(
  engine: { readonly outbox: Pick<Outbox, 'list'> },
  subject: string,
): Promise<readonly GatewayEvent[]> {
  const events: GatewayEvent[] = [];
  for (const state of ['waiting', 'scheduled'] as const)
    for (let cursor: string | null = null, more = true; more;) {
      const page = await engine.outbox.list(state, cursor, PAGE);
      events.push(...page.entries.map(({ event }) => event).filter(({ id }) => id.startsWith(`${subject}-`)));
      cursor = page.cursor;
      more = cursor !== null;
    }
  return events;
}

/** Crossings that were told, as `<window> <percent> <used>/<limit>`. */
async function crossingsOf(engine: AdmissionEngine, subject: string): Promise<readonly string[]> {
  const events = await toldOf(engine, subject);
  return events
    .filter(({ type }) => type === 'petgate.quota.crossed')
    .map(({ data: { window, threshold, used, limit } }) => `${window} ${threshold} ${used}/${limit}`)
    .sort();
}

/** What admissions tell of, in the same step (docs/guides/events.md). */
export function told(t: Test, engine: AdmissionEngine): void {
  t.test('half, four fifths and all of a day are told, each once, and of the next day again', async (t) => {
    const key = await newKey(engine, 'calm');
    await askMany(engine, key, 2, NOON_MS);
    t.same(await toldOf(engine, key.id), []);
    await askMany(engine, key, 5, NOON_MS);
    const [half] = await toldOf(engine, key.id);
    t.same(half, {
      id: `${key.id}-day-${TODAY}-50-5`,
      type: 'petgate.quota.crossed',
      atMs: NOON_MS,
      data: { customer: null, key: key.id, plan: 'calm', window: 'day', threshold: 50, limit: 5, used: 3 },
    });
    await askMany(engine, key, 5, NOON_MS + MINUTE_MS);
    const all = ['day 100 5/5', 'day 50 3/5', 'day 80 4/5'];
    t.same(await crossingsOf(engine, key.id), all);
    await askMany(engine, key, 3, NOON_MS + DAY_MS);
    t.same(await crossingsOf(engine, key.id), ['day 50 3/5', ...all].sort());
    t.equal((await toldOf(engine, key.id)).at(-1)?.id, `${key.id}-day-${TODAY + 1}-50-5`);
  });

  t.test(
    'a request that costs much tells of all that it crosses; one that only looks, or is refused, of nothing',
    async (t) => {
      const key = await newKey(engine, 'enterprise', custom(100, 10));
      await ask(engine, key, NOON_MS, { cost: 11 });
      await ask(engine, key, NOON_MS, { cost: 0 });
      t.same(await crossingsOf(engine, key.id), []);
      await ask(engine, key, NOON_MS, { cost: 9 });
      t.same(await crossingsOf(engine, key.id), ['day 50 9/10', 'day 80 9/10']);
      await askMany(engine, key, 3, NOON_MS);
      t.same(await crossingsOf(engine, key.id), ['day 100 10/10', 'day 50 9/10', 'day 80 9/10']);
    },
  );

  t.test('months are told beside days, under the day on which they began', async (t) => {
    const key = await newKey(engine, 'monthly');
    await askMany(engine, key, 20, NOON_MS);
    t.same(await crossingsOf(engine, key.id), ['month 100 20/20', 'month 50 10/20', 'month 80 16/20']);
    const date = new Date(NOON_MS);
    const startDay = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / DAY_MS;
    t.ok((await toldOf(engine, key.id)).every(({ id }) => id.startsWith(`${key.id}-month-${startDay}-`)));
    const own = await newKey(engine, 'enterprise', { limits: { minute: 60, day: 'unlimited', month: 4 } });
    await askMany(engine, own, 3, NOON_MS);
    t.same(await crossingsOf(engine, own.id), ['month 50 2/4']);
    await askMany(engine, own, 3, NOON_MS);
    t.same(await crossingsOf(engine, own.id), ['month 100 4/4', 'month 50 2/4', 'month 80 4/4']);
  });

  t.test('a plan says at which shares; what has no limit has none', async (t) => {
    const [quiet, early, open] = [
      await newKey(engine, 'quiet'),
      await newKey(engine, 'early'),
      await newKey(engine, 'open'),
    ];
    for (const key of [quiet, early, open]) await askMany(engine, key, 12, NOON_MS);
    t.same(await crossingsOf(engine, quiet.id), []);
    t.same(await crossingsOf(engine, early.id), ['day 10 1/10', 'day 100 10/10']);
    t.same(await crossingsOf(engine, open.id), []);
  });

  t.test('a day that trickles crosses a share often, and is notified of it once a day', async (t) => {
    const key = await newKey(engine, 'trickle');
    const third = DAY_MS / 3;
    await askMany(engine, key, 3, DAY_START_MS);
    for (const atMs of [third, third + 1, 2 * third, 2 * third + 1]) await ask(engine, key, DAY_START_MS + atMs);
    t.same(await crossingsOf(engine, key.id), ['day 100 3/3', 'day 50 2/3', 'day 80 3/3']);
    await ask(engine, key, DAY_START_MS + 3 * third);
    t.same(
      (await toldOf(engine, key.id)).map(({ id }) => id.slice(key.id.length)).sort(),
      [
        ...[`-day-${TODAY}-100-3`, `-day-${TODAY}-50-3`, `-day-${TODAY}-80-3`],
        ...[`-day-${TODAY + 1}-100-3`, `-day-${TODAY + 1}-80-3`],
      ].sort(),
    );
  });

  t.test('of another limit it is told anew', async (t) => {
    const key = await newKey(engine, 'enterprise', custom(100, 10));
    await ask(engine, key, NOON_MS, { cost: 5 });
    await change(engine, key, custom(100, 20));
    await ask(engine, key, NOON_MS, { cost: 5 });
    await change(engine, key, custom(100, 12));
    t.same(await crossingsOf(engine, key.id), ['day 50 10/20', 'day 50 5/10']);
    await askMany(engine, key, 2, NOON_MS);
    await change(engine, key, custom(100, 10));
    await askMany(engine, key, 2, NOON_MS);
    t.same(await crossingsOf(engine, key.id), ['day 100 12/12', 'day 50 10/20', 'day 50 5/10']);
  });

  t.test('keys of a customer cross its limits together', async (t) => {
    const { id } = await newCustomer(engine, 'monthly');
    const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
    const batch = Array.from({ length: 24 }, (_, n) => requestOf((n % 2 === 0 ? first : second).subject, NOON_MS));
    await engine.admit(batch.slice(0, 11));
    t.same(
      (await toldOf(engine, id)).map(({ data }) => data),
      [{ customer: id, key: second.id, plan: 'monthly', window: 'month', threshold: 50, limit: 20, used: 10 }],
    );
    await engine.admit(batch);
    t.same(await crossingsOf(engine, id), ['month 100 20/20', 'month 50 10/20', 'month 80 16/20']);
    const calm = await newCustomer(engine, 'calm');
    const keys = [await keyOf(engine, calm.id), await keyOf(engine, calm.id), await keyOf(engine, calm.id)];
    await engine.admit(keys.map(({ subject }) => requestOf(subject, NOON_MS)));
    t.same(await crossingsOf(engine, calm.id), ['day 50 3/5']);
    t.same(await toldOf(engine, first.id), [], 'of the key itself there is nothing to tell');
  });

  t.test('a ban is told when it begins: with the refusal that began it', async (t) => {
    const { id: customer } = await newCustomer(engine, 'strict');
    for (const key of [await newKey(engine, 'strict'), await keyOf(engine, customer)]) {
      await askMany(engine, key, 3, NOON_MS);
      t.same(await toldOf(engine, key.id), []);
      await askMany(engine, key, 8, NOON_MS);
      const until = new Date(NOON_MS + 100_000).toISOString();
      t.same(await toldOf(engine, key.id), [
        {
          id: `${key.id}-ban-${NOON_MS + 100_000}`,
          type: 'petgate.ban.started',
          atMs: NOON_MS,
          data: {
            ...{ customer: key.id.length > 12 ? customer : null, key: key.id, plan: 'strict', until, level: 1 },
            reason: 'too many requests after 429',
          },
        },
      ]);
      const again = banned((await askMany(engine, key, 8, NOON_MS + 100_000)).at(-1)!);
      t.match((await toldOf(engine, key.id)).at(-1), {
        id: `${key.id}-ban-${again.bannedUntilMs}`,
        data: { level: 2 },
      });
    }
    const address = { kind: 'address', address: `told-${freshId()}` } as const;
    await askMany(engine, address, 30, NOON_MS);
    t.same(await toldOf(engine, address.address), [], 'nobody is notified of an address');
  });

  t.test('a ban by hand is told when its event comes with it', async (t) => {
    const key = await newKey(engine, 'free');
    await startBan(engine, key, NOON_MS + 1_000);
    t.same(await toldOf(engine, key.id), []);
    const event = banEvent(key.id, 'free', { untilMs: NOON_MS + 2_000, level: 1, reason: null }, NOON_MS);
    await startBan(engine, key, NOON_MS + 2_000, { reason: null, actor: 'Max' }, { emit: [event], withdraw: [] });
    t.same(await toldOf(engine, key.id), [event]);
    t.equal((await engine.bans.read(key.id))?.untilMs, NOON_MS + 2_000);
  });

  t.test('what was delivered is not told again', async (t) => {
    const key = await newKey(engine, 'enterprise', custom(100, 10));
    const nowMs = Date.now();
    await ask(engine, key, nowMs, { cost: 5 });
    const ids: string[] = [];
    await until('it is due', async () => {
      const entries = await engine.outbox.claim(PAGE, MINUTE_MS);
      ids.push(...entries.map(({ event }) => event.id));
      return ids.length > 0;
    });
    t.match(ids, [new RegExp(`^${key.id}-day-\\d+-50-10$`)]);
    await engine.outbox.delivered(ids[0]!);
    // A clock that steps back by a day and comes again crosses the same share again.
    await ask(engine, key, nowMs + DAY_MS, { cost: 0 });
    await engine.outbox.collect(MINUTE_MS, false);
    t.same(await crossingsOf(engine, key.id), []);
    t.same(await engine.outbox.claim(PAGE, MINUTE_MS), []);
  });
}
