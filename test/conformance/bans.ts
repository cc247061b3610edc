import type { Test } from 'tap';
import { DAY_MS, MINUTE_MS } from '../../src/gateway/admission/bucket.js';
import { banEvent } from '../../src/gateway/store/records/facts.js';
import { NO_CHANGE } from '../../src/gateway/store/outbox/event.js';
import type { AddressBan, AdmissionEngine, BanPage } from '../../src/gateway/store/port.js';
import type { Ban } from '../../src/gateway/store/records/key.js';
import { until } from '../servers/until.js';
import {
  DAY_START_MS,
  ask,
  askMany,
  banned,
  change,
  count,
  freshId,
  keyOf,
  liftBan,
  limited,
  newCustomer,
  newKey,
  NOON_MS,
  standing,
  startBan,
} from './cast.js';
import type { Actor } from './cast.js';
import { toldOf } from './told.js';
import { windowOf } from '../gateway/admission/verdict.js';

type Address = { readonly kind: 'address'; readonly address: string };

/** Asks with a key on the plan `strict` until it is banned; the verdict that began the ban. */
async function provoke(engine: AdmissionEngine, key: Actor, nowMs: number): Promise<ReturnType<typeof banned>> {
  const verdicts = await askMany(engine, key, 8, nowMs);
  return banned(verdicts.find((verdict) => verdict.outcome === 'banned')!);
}

/**
 * Bans: when they begin, how long they last, and what a refusal meanwhile costs (docs/guides/limits-and-headers.md).
 */
export function bans(t: Test, engine: AdmissionEngine): void {
  // First, while no other test has left bans that end meanwhile.
  t.test('the bans in force are counted: begun by themselves and by hand, moved, lifted, and over', async (t) => {
    await liftThoseThatEndSoon(engine);
    const before = await engine.bans.inForce();
    const isMore = async (keys: number, addresses: number): Promise<boolean> => {
      const now = await engine.bans.inForce();
      return now.keys === before.keys + keys && now.addresses === before.addresses + addresses;
    };
    const more = async (what: string, keys: number, addresses: number): Promise<void> => {
      await until(what, () => isMore(keys, addresses));
      t.pass(what);
    };
    /** On a busy machine it may be over before it was looked at: the next one lasts twice as long. */
    const endsSoon = async (id: string): Promise<void> => {
      for (let lengthMs = 300; lengthMs < 100_000; lengthMs *= 2) {
        const untilMs = Date.now() + lengthMs;
        await startBan(engine, id, untilMs);
        await until('seen, or over', async () => Date.now() > untilMs || (await isMore(3, 1)));
        if (Date.now() <= untilMs) return;
      }
    };
    const [byItself, byHand, brief] = [
      await newKey(engine, 'strict'),
      await newKey(engine, 'free'),
      await newKey(engine, 'free'),
    ];
    await provoke(engine, byItself, NOON_MS);
    await more('one that began by itself', 1, 0);
    await startBan(engine, byHand, NOON_MS + 50_000);
    await startBan(engine, byHand, NOON_MS + 90_000);
    await more('one by hand, moved', 2, 0);
    await askMany(engine, byItself, 3, NOON_MS + 10);
    await more('no more for who goes on asking', 2, 0);
    await askMany(
      engine,
      { kind: 'address', address: `2001:db8:${freshId().slice(0, 4)}:${freshId().slice(0, 4)}` },
      16,
      NOON_MS,
    );
    await more('an address', 2, 1);
    await endsSoon(brief.id);
    await more('and is over', 2, 1);
    await liftBan(engine, byHand);
    await liftBan(engine, byItself);
    await more('lifted', 0, 1);
  });

  t.test('so many refusals within the time start a ban, with the last of them', async (t) => {
    const key = await newKey(engine, 'free');
    const verdicts = await askMany(engine, key, 60 + 35, NOON_MS);
    t.same([count(verdicts, 'admitted'), count(verdicts, 'limited'), count(verdicts, 'banned')], [60, 29, 6]);
    const first = banned(verdicts[89]!);
    t.same(
      [first.started, first.level, first.bannedUntilMs, first.retryAtMs],
      [true, 1, NOON_MS + 300_000, NOON_MS + 300_000],
    );
    t.same(
      verdicts.slice(90).map((verdict) => banned(verdict).started),
      [false, false, false, false, false],
    );
    t.same(await engine.bans.read(key.id), { keyId: key.id, untilMs: NOON_MS + 300_000, level: 1, note: null });
  });

  t.test('refusals further apart start none', async (t) => {
    const key = await newKey(engine, 'strict');
    await ask(engine, key, NOON_MS);
    for (const [atMs, outcome] of [
      [1_000, 'limited'],
      [10_999, 'limited'],
      [11_000, 'limited'],
      [20_999, 'limited'],
      [20_999, 'banned'],
    ] as const) {
      t.equal((await ask(engine, key, NOON_MS + atMs)).outcome, outcome, `at ${atMs} ms`);
    }
  });

  t.test('a ban ends by itself; requests during it do not lengthen it and cost nothing', async (t) => {
    const key = await newKey(engine, 'strict');
    const { bannedUntilMs } = await provoke(engine, key, NOON_MS);
    t.equal(bannedUntilMs, NOON_MS + 100_000);
    const during = await askMany(engine, key, 50, NOON_MS + 90_000);
    t.ok(
      during.every(
        (verdict) =>
          banned(verdict).bannedUntilMs === bannedUntilMs && verdict.outcome === 'banned' && !verdict.started,
      ),
    );
    t.equal((await ask(engine, key, bannedUntilMs - 1)).outcome, 'banned');
    const after = standing(await ask(engine, key, bannedUntilMs));
    t.equal(after.outcome, 'admitted');
    t.equal(windowOf(after, 'day').remaining, 998);
    t.equal((await ask(engine, key, bannedUntilMs)).outcome, 'limited', 'strikes begin anew');
  });

  t.test('the next ban within 24 h is longer, up to the cap; later it begins small again', async (t) => {
    const key = await newKey(engine, 'strict');
    let nowMs = NOON_MS;
    for (const [level, lengthMs] of [
      [1, 100_000],
      [2, 150_000],
      [3, 200_000],
      [4, 200_000],
    ] as const) {
      const ban = await provoke(engine, key, nowMs);
      t.same([ban.level, ban.bannedUntilMs - nowMs], [level, lengthMs]);
      nowMs = ban.bannedUntilMs;
    }
    const last = await provoke(engine, key, nowMs + DAY_MS - 1);
    t.equal(last.level, 5, 'a moment less than 24 h after the end counts');
    t.equal((await provoke(engine, key, last.bannedUntilMs + DAY_MS)).level, 1, 'after 24 h it is forgotten');
  });

  t.test(
    'a ban that began while the clock was hours ahead is over one length from when the clock is right',
    async (t) => {
      const address = { kind: 'address', address: `ahead-${freshId()}` } as const;
      const [key, byHand] = [await newKey(engine, 'strict'), await newKey(engine, 'strict')];
      const aheadMs = NOON_MS + 5 * 3_600_000;
      t.equal((await provoke(engine, key, aheadMs)).bannedUntilMs, aheadMs + 100_000);
      await askMany(engine, address, 20, aheadMs);
      t.equal(banned(await ask(engine, key, NOON_MS, { cost: 0 })).bannedUntilMs, NOON_MS + 100_000, 'a look says so');
      t.equal(banned(await ask(engine, key, NOON_MS + 1_000)).bannedUntilMs, NOON_MS + 101_000, 'and changed nothing');
      for (const atMs of [2_000, 50_000, 100_999])
        t.equal(
          banned(await ask(engine, key, NOON_MS + atMs)).bannedUntilMs,
          NOON_MS + 101_000,
          'it does not move any more',
        );
      t.equal((await ask(engine, key, NOON_MS + 101_000)).outcome, 'admitted');
      t.equal(banned(await ask(engine, address, NOON_MS)).bannedUntilMs, NOON_MS + 300_000);
      t.equal((await ask(engine, address, NOON_MS + 300_000)).outcome, 'admitted');

      await provoke(engine, byHand, aheadMs);
      await startBan(engine, byHand, aheadMs);
      t.equal(banned(await ask(engine, byHand, NOON_MS)).bannedUntilMs, aheadMs, 'operators say when theirs ends');
    },
  );

  t.test('a retry is promised for when ban and buckets allow it', async (t) => {
    const key = await newKey(engine, 'calm');
    await askMany(engine, key, 3, NOON_MS);
    await startBan(engine, key, NOON_MS + 10_000);
    t.equal(
      banned(await ask(engine, key, NOON_MS + 1)).retryAtMs,
      NOON_MS + MINUTE_MS,
      'the minute is empty longer than the ban lasts',
    );
    t.equal(limited(await ask(engine, key, NOON_MS + 10_000)).retryAtMs, NOON_MS + MINUTE_MS);
  });

  t.test('an operator starts a ban, moves and lifts it', async (t) => {
    const key = await newKey(engine, 'free');
    t.equal(await engine.bans.read(key.id), undefined);
    await ask(engine, key, NOON_MS);
    await startBan(engine, key, NOON_MS + 50_000);
    const verdict = banned(await ask(engine, key, NOON_MS));
    t.same(
      [verdict.level, verdict.bannedUntilMs, windowOf(verdict, 'minute').remaining],
      [1, NOON_MS + 50_000, 59],
      'what was spent stays',
    );
    await startBan(engine, key, NOON_MS + 90_000);
    t.same(await engine.bans.read(key.id), { keyId: key.id, untilMs: NOON_MS + 90_000, level: 1, note: null });
    t.equal(await liftBan(engine, key), true);
    t.equal(await engine.bans.read(key.id), undefined);
    t.equal(windowOf(standing(await ask(engine, key, NOON_MS)), 'minute').remaining, 58);
    t.equal(await liftBan(engine, key), false, 'there was none');
    t.equal(await liftBan(engine, freshId()), false, 'nor for a key nobody knows');
    const unseen = await newKey(engine, 'free');
    await startBan(engine, unseen, NOON_MS + 1_000);
    t.equal((await ask(engine, unseen, NOON_MS)).outcome, 'banned', 'a key that never asked can be banned');
    t.equal((await ask(engine, unseen, NOON_MS + 1_000)).outcome, 'admitted');
  });

  t.test('what an operator said of a ban stays with that ban alone', async (t) => {
    const key = await newKey(engine, 'strict');
    const note = { reason: 'runs in a “loop” 🐾', actor: 'Zoë' };
    await startBan(engine, key, NOON_MS + 50_000, note);
    t.same(await engine.bans.read(key.id), { keyId: key.id, untilMs: NOON_MS + 50_000, level: 1, note });
    await startBan(engine, key, NOON_MS + 90_000, { reason: null, actor: 'Max' });
    t.same((await engine.bans.read(key.id))?.note, { reason: null, actor: 'Max' });
    await startBan(engine, key, NOON_MS + 90_000);
    t.equal((await engine.bans.read(key.id))?.note, null, 'nothing was said of the newest');
    await startBan(engine, key, NOON_MS + 50_000, note);
    t.ok((await provoke(engine, key, NOON_MS + 50_000)).started);
    t.match(await engine.bans.read(key.id), { level: 2, note: null }, 'a ban that began by itself');
    await startBan(engine, key, NOON_MS + 50_000, note);
    await liftBan(engine, key);
    await startBan(engine, key, NOON_MS + 50_000);
    t.equal((await engine.bans.read(key.id))?.note, null, 'lifted and forgotten');
  });

  t.test('lifting forgets strikes and level', async (t) => {
    const key = await newKey(engine, 'strict');
    const first = await provoke(engine, key, NOON_MS);
    await liftBan(engine, key);
    t.same(
      (await askMany(engine, key, 3, NOON_MS + 1)).map((verdict) => verdict.outcome),
      ['limited', 'limited', 'banned'],
    );
    t.equal(banned(await ask(engine, key, NOON_MS + 2)).level, 1);
    t.ok(first.started);
  });

  t.test('a ban outlives a plan change, and an address is banned like a key', async (t) => {
    const key = await newKey(engine, 'strict');
    const { bannedUntilMs } = await provoke(engine, key, NOON_MS);
    await change(engine, key, { plan: 'open' });
    t.equal(banned(await ask(engine, key, NOON_MS + 5)).bannedUntilMs, bannedUntilMs);
    const address = { kind: 'address', address: `2001:db8:${freshId().slice(0, 4)}:${freshId().slice(0, 4)}` } as const;
    const verdicts = await askMany(engine, address, 16, NOON_MS);
    t.same([count(verdicts, 'admitted'), count(verdicts, 'limited'), count(verdicts, 'banned')], [5, 9, 2]);
  });

  t.test(
    'a ban that begins by itself stands in the history, once; what happens to the key goes on beside it',
    async (t) => {
      const key = await newKey(engine, 'strict');
      const automatic = (atMs: number, untilMs: number, level: number): object => ({
        ...{ atMs, actor: 'petgate', action: 'banned' },
        changed: {
          until: new Date(untilMs).toISOString(),
          ...{ level, plan: 'strict', reason: 'too many requests after 429' },
        },
      });
      const [created] = await engine.keys.history(key.id);
      const first = await provoke(engine, key, NOON_MS);
      const banned = automatic(NOON_MS, first.bannedUntilMs, 1);
      t.same(await engine.keys.history(key.id), [created, banned], 'at once');
      await askMany(engine, key, 5, NOON_MS + 1);
      t.same(await engine.keys.history(key.id), [created, banned], 'and no more for who goes on asking');
      await change(engine, key, { note: 'asked to slow down' });
      const [, , changed] = await engine.keys.history(key.id);
      t.match(changed, { action: 'changed', changed: { note: 'asked to slow down' } });
      const second = await provoke(engine, key, first.bannedUntilMs);
      t.same(await engine.keys.history(key.id), [
        ...[created, banned, changed],
        automatic(first.bannedUntilMs, second.bannedUntilMs, 2),
      ]);
      t.equal((await engine.keys.read(key.id))?.version, 2, 'the record stays as it is');
      const { id: customer } = await newCustomer(engine, 'strict');
      const own = await keyOf(engine, customer);
      await provoke(engine, own, NOON_MS);
      t.match(await engine.keys.history(own.id), [{}, banned]);
      t.equal((await engine.customers.history(customer)).length, 1, 'it is of the key alone');
    },
  );

  t.test('no entry is lost where the history is replaced as a ban begins', async (t) => {
    const key = await newKey(engine, 'strict');
    const before = await engine.keys.history(key.id);
    await provoke(engine, key, NOON_MS);
    const after = await engine.keys.history(key.id);
    const record = { ...key.record, name: '', version: 2 };
    const done = { atMs: NOON_MS, action: 'erased', changed: {} } as const;
    const late = engine.keys.rewrite(record, [...before, done]);
    await t.rejects(late, { name: 'VersionConflict' }, 'what was read of it is out of date');
    await engine.keys.rewrite(record, [...after, done]);
    t.same(await engine.keys.history(key.id), [...after, done]);
  });

  t.test('a ban by hand, its history and its event are one step with the record, or nothing', async (t) => {
    const key = await newKey(engine, 'free');
    const until = new Date(NOON_MS).toISOString();
    const entry = { atMs: DAY_START_MS, actor: 'ops', action: 'banned', changed: { until } } as const;
    const event = banEvent(key.id, 'free', { untilMs: NOON_MS, level: 1, reason: null }, DAY_START_MS);
    const ban = { untilMs: NOON_MS, note: { reason: null, actor: 'ops' } };
    const change = { emit: [event], withdraw: [], ban };
    const late = engine.keys.write({ ...key.record, version: 1 }, entry, change);
    await t.rejects(late, { name: 'VersionConflict' });
    t.equal(await engine.bans.read(key.id), undefined, 'no ban without its change');
    t.equal((await engine.keys.history(key.id)).length, 1);
    t.same(await toldOf(engine, key.id), []);

    const record = { ...key.record, version: 2 };
    await engine.keys.write(record, entry, change);
    t.match(await engine.bans.read(key.id), { ...ban, level: 1 });
    t.same(await engine.keys.read(key.id), record);
    t.same((await engine.keys.history(key.id)).slice(1), [entry]);
    t.same(await toldOf(engine, key.id), [event]);
    const lifted = { ...entry, action: 'lifted', changed: {} } as const;
    await engine.keys.write({ ...record, version: 3 }, lifted, { ...NO_CHANGE, ban: null });
    t.equal(await engine.bans.read(key.id), undefined);
    t.same((await engine.keys.history(key.id)).slice(1), [entry, lifted]);
  });

  t.test('two changes of a key at once, one of them a ban: one is made, and the other told', async (t) => {
    const key = await newKey(engine, 'free');
    for (let n = 0; n < 10; n += 1) {
      const { version } = (await engine.keys.read(key.id))!;
      const actors = [0, 1].map(() => ({ ...key, record: { ...key.record, version } })) as [Actor, Actor];
      const made = await Promise.allSettled([
        startBan(engine, actors[0], NOON_MS + n),
        change(engine, actors[1], { note: `${n}` }),
      ]);
      t.same(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      t.equal((await engine.keys.read(key.id))?.version, version + 1);
      t.equal((await engine.keys.history(key.id)).length, version + 1);
    }
  });

  t.test('bans of keys are listed, page by page, each once; those that are over or lifted are not', async (t) => {
    const keys = await Promise.all(['strict', 'free', 'free', 'free'].map((plan) => newKey(engine, plan)));
    const [byItself, byHand, lifted, over] = keys as [Actor, Actor, Actor, Actor];
    const listed = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let cursor: string | null = null, isMore = true; isMore;) {
        const page: BanPage<Ban> = await engine.bans.keys(cursor, 2);
        for (const ban of page.bans) t.same(ban, await engine.bans.read(ban.keyId));
        found.push(...page.bans.map(({ keyId }) => keyId));
        cursor = page.cursor;
        isMore = cursor !== null;
      }
      return found.filter((id) => keys.some((key) => key.id === id)).sort();
    };
    await provoke(engine, byItself, NOON_MS);
    await startBan(engine, byHand, NOON_MS + 1_000);
    await startBan(engine, byHand, NOON_MS);
    await startBan(engine, lifted, NOON_MS);
    await liftBan(engine, lifted);
    await startBan(engine, over, Date.now());
    const wanted = [byItself.id, byHand.id].sort();
    await until('all are listed', async () => (await listed()).length === wanted.length);
    t.same(await listed(), wanted);
  });

  t.test('bans of addresses are listed, page by page, each once, and lifted', async (t) => {
    const [one, other, third] = ['7', '8', '9'].map(() => ({
      kind: 'address' as const,
      address: `2001:db8:${freshId().slice(0, 4)}:${freshId().slice(0, 4)}`,
    })) as [Address, Address, Address];
    const listed = async (): Promise<readonly string[]> => {
      const bans: AddressBan[] = [];
      for (let cursor: string | null = null, isMore = true; isMore;) {
        const page: BanPage<AddressBan> = await engine.bans.addresses(cursor, 2);
        bans.push(...page.bans);
        cursor = page.cursor;
        isMore = cursor !== null;
      }
      for (const { untilMs, level } of bans) t.ok(untilMs > Date.now() && level >= 1);
      return bans.map(({ address }) => address).filter((address) => mine.has(address));
    };
    const mine = new Set([one, other, third].map(({ address }) => address));
    for (const each of [one, other, third])
      t.equal((await askMany(engine, each, 16, NOON_MS)).at(-1)?.outcome, 'banned');
    await until('all are listed', async () => (await listed()).length === 3);
    t.same(new Set(await listed()), mine);
    t.equal(await engine.bans.liftAddress(one.address), true);
    const after = standing(await ask(engine, one, NOON_MS));
    t.equal(after.outcome, 'limited', 'what was spent stays, and strikes begin anew');
    t.equal((await ask(engine, other, NOON_MS)).outcome, 'banned', 'nobody else is free');
    t.same(new Set(await listed()), new Set([other.address, third.address]));
    t.equal(await engine.bans.liftAddress(one.address), false, 'there is none any more');
    t.equal(await engine.bans.liftAddress('203.0.113.250'), false, 'nor of an address nobody knows');
    t.equal(banned((await askMany(engine, one, 16, NOON_MS)).at(-1)!).level, 1, 'the level is forgotten');
  });

  t.test('a look during a ban shows it and a clock that steps back does not end it', async (t) => {
    const key = await newKey(engine, 'strict');
    const { bannedUntilMs } = await provoke(engine, key, NOON_MS);
    for (const atMs of [NOON_MS + 5, NOON_MS - DAY_MS, bannedUntilMs - 1])
      t.equal(banned(await ask(engine, key, atMs, { cost: 0 })).bannedUntilMs, Math.min(bannedUntilMs, atMs + 100_000));
    t.not((await ask(engine, key, bannedUntilMs, { cost: 0 })).outcome, 'banned');
  });
}

/** Those of other tests that the real clock would end during this one. */
async function liftThoseThatEndSoon(engine: AdmissionEngine): Promise<void> {
  const soonMs = Date.now() + 20 * MINUTE_MS;
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await engine.bans.keys(cursor ?? null, 100);
    for (const { keyId, untilMs } of page.bans) if (untilMs < soonMs) await liftBan(engine, keyId);
    ({ cursor } = page);
  }
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await engine.bans.addresses(cursor ?? null, 100);
    for (const { address, untilMs } of page.bans) if (untilMs < soonMs) await engine.bans.liftAddress(address);
    ({ cursor } = page);
  }
}
