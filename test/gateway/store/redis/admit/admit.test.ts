import t from 'tap';
import type { Test } from 'tap';
import { StoreUnavailable, type AdmissionRequest } from '../../../../../src/gateway/admission/port.js';
import { admit, editionOf, probeOf } from '../../../../../src/gateway/store/redis/admit/admit.js';
import { openRedisEngine, type RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { subjectName } from '../../../../../src/gateway/store/redis/keyspace/names.js';
import { connect } from '../../../../../src/gateway/store/redis/link/connect.js';
import { Link } from '../../../../../src/gateway/store/redis/link/link.js';
import { parseRedisUrl } from '../../../../../src/gateway/store/redis/link/url.js';
import { dayName, newKey, PLANS, rowsOf, type Actor } from '../../../../conformance/cast.js';
import { redisFor, startCluster } from '../../../../servers/redis.js';
import { startProxy } from '../../../../servers/stalling-proxy.js';
import { until } from '../../../../servers/until.js';

/** The link gives up after so long; the engine, which writes the keys and reads the ledger, does not. */
const DEADLINE_MS = 400;
const PATIENT_MS = 10_000;

interface Stage {
  readonly engine: RedisEngine;
  readonly link: Link;
  /** Keys whose events may have been noted, in the order they were named. */
  readonly noted: string[];
  readonly admit: (...requests: readonly AdmissionRequest[]) => ReturnType<typeof admit>;
}

/** @param linkUrl the link's way to this store, if it is another one */
async function stageOn(t: Test, url: string, linkUrl = url): Promise<Stage> {
  const engine = openRedisEngine({ url, deadlineMs: PATIENT_MS, plans: PLANS, usageDays: 400 });
  const noted: string[] = [];
  const edition = editionOf(PLANS, 400, false, (ids) => noted.push(...ids));
  const link = new Link(connect(parseRedisUrl(linkUrl), DEADLINE_MS), {
    deadlineMs: DEADLINE_MS,
    probe: () => probeOf(edition),
    known: null,
    environment: null,
    log: undefined,
  });
  t.teardown(() => Promise.all([link.close(), engine.close()]));
  await engine.check();
  await until('the link is up', async () => (await link.check('petgate:{a}:'), true));
  return { engine, link, noted, admit: (...requests) => admit(link, edition, requests) };
}

function asking({ subject }: Actor): AdmissionRequest {
  return { subject, operation: 'listPets', scope: null, cost: 1 };
}

async function failureOf(answer: Promise<unknown>): Promise<StoreUnavailable> {
  try {
    await answer;
  } catch (error) {
    if (error instanceof StoreUnavailable) return error;
    throw error;
  }
  throw new Error('the batch was decided');
}

const told = (late: StoreUnavailable['late']): Promise<unknown[]> =>
  Promise.all(late.map((each) => each ?? Promise.resolve('nothing')));

async function requestsSince(atMs: number, engine: RedisEngine): Promise<number> {
  return (await rowsOf(engine, dayName(atMs), dayName(Date.now()))).reduce((sum, { requests }) => sum + requests, 0);
}

t.test('a node that is silent holds up only its own requests, and charges nothing once it wakes', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const { engine, link, noted, ...stage } = await stageOn(t, cluster.url);
  const keyOn = async ({ port }: { port: number }): Promise<Actor> => {
    for (;;) {
      const key = await newKey(engine, 'free');
      if (link.nodeOf(subjectName(key.subject)).endsWith(`:${port}`)) return key;
    }
  };
  const [silent, other, third] = await Promise.all(cluster.masters.map(keyOn));
  const asked = [silent!, other!, silent!, third!].map(asking);
  for (const request of asked) await stage.admit(request);
  const frozen = cluster.masters[0]!;
  frozen.freeze();
  t.teardown(() => frozen.thaw());

  const unanswered = await failureOf(stage.admit(...asked));
  t.match(unanswered.decided, [undefined, { outcome: 'admitted' }, undefined, { outcome: 'admitted' }]);
  t.same(unanswered.notSent, [], 'what was sent may have been decided');
  t.same(
    asked.map((_, index) => unanswered.late[index] !== undefined),
    [true, false, true, false],
  );
  t.same(noted, [silent!.id], 'its key may have noted events, and no other');

  const unsent = await failureOf(stage.admit(...asked));
  t.match(unsent.decided, [undefined, { outcome: 'admitted' }, undefined, { outcome: 'admitted' }]);
  t.same(unsent.notSent, [0, 2], 'a node that is known to be silent is not asked');
  t.same(unsent.late, []);
  t.same(noted, [silent!.id], 'what was not sent has noted nothing');

  frozen.thaw();
  t.same(await told([unanswered.late[0], unanswered.late[2]]), ['undone', 'undone'], 'its deadline had passed');
  t.match(await engine.admit([asking(silent!)]), [{ outcome: 'admitted', windows: [{ remaining: 57 }] }]);
});

t.test('a large batch whose answers come late is told whole: each request has its own verdict', async (t) => {
  const redis = await redisFor(t);
  const proxy = await startProxy(redis.port);
  t.teardown(() => proxy.stop());
  const { engine, noted, admit } = await stageOn(t, redis.url, `redis://127.0.0.1:${proxy.port}`);
  const keys = await Promise.all(Array.from({ length: 20 }, () => newKey(engine, 'free')));
  const asked = Array.from({ length: 600 }, (_, n) => asking(keys[n % keys.length]!));
  const beganMs = Date.now();
  proxy.set('hold');
  const { decided, notSent, late } = await failureOf(admit(...asked));
  t.ok(decided.every((verdict) => verdict === undefined));
  t.same(notSent, []);
  t.same(new Set(noted), new Set(keys.map(({ id }) => id)));

  proxy.set('pass');
  const verdicts = await told(late);
  t.equal(verdicts.length, asked.length);
  for (const [n, verdict] of verdicts.entries()) {
    const remaining = 59 - Math.floor(n / keys.length);
    t.match(verdict, { outcome: 'admitted', windows: [{ remaining }] }, `number ${n}`);
  }
  t.equal(await requestsSince(beganMs, engine), asked.length);
});

t.test('a request whose connection broke has an unknown outcome', async (t) => {
  const redis = await redisFor(t);
  const { engine, admit } = await stageOn(t, redis.url);
  const key = await newKey(engine, 'free');
  redis.freeze();
  const { late } = await failureOf(admit(asking(key)));
  await redis.kill();
  t.same(await told(late), ['unknown']);
});
