import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { batchAdmission, type Admission } from '../../../src/gateway/admission/batch.js';
import { collectSettlements, type Settlements } from '../../../src/gateway/store/settlements.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import { ask, newKey, type Actor } from '../../conformance/cast.js';
import { back, learnt, ledgerOf, openGateway } from '../../gateway/store/outage/fixture.js';
import { redisFor, type RedisServer, startCluster } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { randomOf, type Random } from '../chaos/random.js';

/** PETGATE_LONG=1: 500 freezes of each kind, 100 in each of five stages beside each other. */
const [STAGES, FREEZES] = process.env['PETGATE_LONG'] === '1' ? [5, 100] : [2, 3];
const SEED = Number(process.env['PETGATE_FREEZES'] ?? Math.floor(Math.random() * 1_000_000));
const [SHORTEST_MS, LONGEST_MS] = [100, 3_000];
const DEADLINE_MS = 450;
const ASKERS = 8;
/** Between two requests of an asker; the longer one while Redis does not decide, or nothing else would run. */
const [PAUSE_MS, AWAY_PAUSE_MS] = [1, 20];
/** Nothing fails a master over here, so that none is to count as failed either. */
const PATIENT = { config: ['cluster-node-timeout 60000'] };

t.setTimeout(60_000 + 20_000 * FREEZES);

interface Sums {
  freezes: number;
  /** What clients got. */
  admitted: number;
  refused: number;
  /** Of the refused: admitted in time, and answered too late. */
  late: number;
  /** Of the refused: nobody knows. */
  unknown: number;
  /** What the ledger has. */
  requests: number;
  failed: number;
}

const KINDS = [
  ['one Redis', 'refuse'],
  ['one Redis', 'local'],
  ['a Cluster', 'refuse'],
  ['a Cluster', 'local'],
] as const;

for (const [n, [store, onFailure]] of KINDS.entries())
  t.test(`${store} freezes at random moments under load (${onFailure})`, async (t) => {
    const stages = Array.from({ length: STAGES }, (_, stage) => freezeOften(t, n * STAGES + stage));
    const sums = await Promise.all(stages);
    const all = sums.reduce((sum, each) => sum + each.late, 0);
    t.comment(`${all} answers came late, in ${STAGES * FREEZES} freezes; PETGATE_FREEZES=${SEED}`);

    async function freezeOften(t: Test, place: number): Promise<Sums> {
      const random = randomOf(SEED + place);
      const servers = await serversOf(t, store === 'a Cluster');
      const { engine, redis } = openGateway(t, servers, { deadlineMs: DEADLINE_MS });
      await until('Redis decides', async () => (await redis.check(), true));
      const keys: Actor[] = [];
      // A busy machine misses a deadline now and then.
      await until('there are keys', async () => {
        while (keys.length < ASKERS) keys.push(await newKey(redis, 'open'));
        return true;
      });
      for (const key of keys)
        await until(
          'a key is known',
          async () => (await ask(engine, key, Date.now(), { cost: 0 })).outcome === 'admitted',
        );
      await learnt(engine, ...keys);
      const sums = await load(onFailure === 'local' ? engine : redis, keys, async (answered) => {
        for (let freeze = 0; freeze < FREEZES; freeze += 1) await freezeOnce(servers.all, random, answered);
        await back(engine);
      });
      const { admitted, late } = sums;
      await until('all counts are in Redis', async () => {
        const ledgers = await Promise.all(keys.map((key) => ledgerOf(redis, key)));
        sums.requests = ledgers.reduce((sum, { requests }) => sum + requests, 0);
        sums.failed = ledgers.reduce((sum, { failed }) => sum + failed, 0);
        return sums.requests >= admitted + late && sums.failed >= late && engine.failover.spooled() === 0;
      }).catch((error: unknown) => t.comment(String(error)));
      t.comment(`${place}: ${JSON.stringify(sums)}`);
      const unnamed = sums.requests - sums.failed - sums.admitted;
      t.ok(unnamed >= 0 && unnamed <= sums.unknown, 'the ledger, less what failed, is what clients got', sums);
      t.equal(sums.failed, sums.late, 'what came late has failed');
      return sums;
    }
  });

interface Servers {
  readonly url: string;
  readonly all: readonly RedisServer[];
}

async function serversOf(t: Test, isCluster: boolean): Promise<Servers> {
  if (isCluster) {
    const cluster = await startCluster(PATIENT);
    t.teardown(() => cluster.stop());
    return { url: cluster.url, all: cluster.masters };
  }
  const server = await redisFor(t);
  return { url: server.url, all: [server] };
}

/** Freezes one of them a random while after requests are admitted again, for a random while. */
async function freezeOnce(servers: readonly RedisServer[], random: Random, answered: () => number): Promise<void> {
  const before = answered();
  await until('requests are admitted', () => answered() > before + 100);
  await sleep(random() * 50);
  const server = servers[Math.floor(random() * servers.length)]!;
  server.freeze();
  await sleep(SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS));
  server.thaw();
}

/** Asks with all keys while `meanwhile` lasts, and hears what is answered late. */
async function load(
  engine: AdmissionEngine,
  keys: readonly Actor[],
  meanwhile: (answered: () => number) => Promise<void>,
): Promise<Sums> {
  const sums: Sums = { freezes: FREEZES, admitted: 0, refused: 0, late: 0, unknown: 0, requests: 0, failed: 0 };
  const admission = batchAdmission(engine, () => undefined);
  const failures = collectSettlements(engine, () => undefined);
  const heard: Promise<void>[] = [];
  let over = false;
  const askOften = async (key: Actor): Promise<void> => {
    while (!over) {
      const isAdmitted = await askOnce(admission, failures, key, sums, heard);
      await sleep(isAdmitted ? PAUSE_MS : AWAY_PAUSE_MS);
    }
  };
  const askers = Promise.all(keys.map(askOften));
  await meanwhile(() => sums.admitted).finally(() => (over = true));
  await askers;
  await Promise.all(heard);
  await until('all that failed is written', async () => (await failures.flush()) === 0);
  return sums;
}

/** True when it was admitted at once. */
async function askOnce(
  admission: Admission,
  failures: Settlements,
  { id, subject }: Actor,
  sums: Sums,
  heard: Promise<void>[],
): Promise<boolean> {
  const request = { subject, operation: 'listPets', scope: null, cost: 1 };
  const beganMs = performance.now();
  try {
    const { outcome } = await admission.admit(request);
    if (outcome !== 'admitted') throw new Error(`${outcome}: a key without limits`);
    sums.admitted += 1;
    return performance.now() - beganMs < DEADLINE_MS / 2;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    sums.refused += 1;
    const late = error.late[0]?.then((end) => {
      if (end === 'unknown') sums.unknown += 1;
      else if (end !== 'undone' && end.outcome === 'admitted') {
        sums.late += 1;
        failures.add({
          keyId: id,
          plan: end.plan,
          operation: request.operation,
          admittedAtMs: end.atMs,
          isFailed: true,
        });
      }
    });
    if (late !== undefined) heard.push(late);
    return false;
  }
}
