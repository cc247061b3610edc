import { randomBytes } from 'node:crypto';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import { keyRecord } from '../../gateway/admission/key-record.js';
import { windowOf } from '../../gateway/admission/verdict.js';
import { pick } from '../chaos/random.js';
import { WrongBill } from './bill.js';
import { DAY_LIMIT, type Gateway } from './gateway.js';
import { add, nameOf, spentOf } from './model.js';
import type { Place } from './place.js';
import { onRedis, serving, type Steps } from './steps.js';
import { ago, agoMs, DAYS_AGO, TODAY, type Key } from './world.js';

const MOST_KEYS = 8;
const MOST_AT_ONCE = 60;

/** So many requests of a key; what was admitted goes into the model. */
async function ask(place: Place, gateway: Gateway, { id, subject }: Key, times: number, daysAgo = 0): Promise<number> {
  const request = { subject, operation: 'listPets', scope: null, cost: 1, nowMs: agoMs(daysAgo) };
  const name = nameOf(id, ago(daysAgo));
  let admitted = 0;
  const error = await gateway.engine.admit(Array.from({ length: times }, () => request)).then(
    (verdicts) => ({ decided: verdicts, notSent: [] as readonly number[] }),
    (reason: unknown) => {
      if (reason instanceof StoreUnavailable) return reason;
      throw reason;
    },
  );
  for (let n = 0; n < times; n += 1) {
    const verdict = error.decided[n];
    if (verdict === undefined && !error.notSent.includes(n)) place.unknown[name] = (place.unknown[name] ?? 0) + 1;
    if (verdict?.outcome !== 'admitted') continue;
    admitted += 1;
    if (verdict.local === true) {
      const { counted } = gateway.folder;
      const start = `${name} ${gateway.name}-${gateway.starts}`;
      counted[start] = (counted[start] ?? 0) + 1;
    } else add(place.store, name, 1);
  }
  return admitted;
}

/** What is left of a key's day must be what the bill says that it has spent. */
async function checkLeft(place: Place, gateway: Gateway, { id, subject }: Key): Promise<void> {
  if (place.store.keys[id] === undefined || Object.values(place.unknown).some((n) => n > 0)) return;
  const request = { subject, operation: 'listPets', scope: null, cost: 0, nowMs: agoMs(0) };
  const [verdict] = await gateway.engine.admit([request]).catch(() => []);
  if (verdict === undefined || verdict.outcome === 'unknown_key' || verdict.local === true) return;
  const { remaining } = windowOf(verdict, 'day');
  const left = Math.max(0, DAY_LIMIT - spentOf(place.store, id, TODAY));
  if (remaining !== left) throw new WrongBill(`${id} has ${remaining} left of its day, and must have ${left}`);
}

export const COUNTS: Steps = {
  'a key is made': {
    weight: 2,
    can: (place, { keys }) => serving(place) && keys.length < MOST_KEYS,
    run: async (place, { keys }, random) => {
      const [id, secretHash] = [randomBytes(6).toString('hex'), randomBytes(32).toString('base64url')];
      const gateway = pick(place.gateways, random);
      const secrets = [{ hash: secretHash, endsAtMs: null }];
      const record = keyRecord(id, { plan: 'narrow', createdAtMs: agoMs(99), secrets });
      await gateway.engine.keys.write(record, { atMs: agoMs(99), action: 'created', changed: { plan: 'narrow' } });
      place.store.keys[id] = [];
      const key: Key = { id, subject: { kind: 'key', id, secretHash } };
      keys.push(key);
      const counts: number[] = [];
      for (const days of DAYS_AGO) {
        counts.push(await ask(place, gateway, key, Math.floor(random() * MOST_AT_ONCE), days));
      }
      return `${id} has ${counts.join(', ')}`;
    },
  },
  admit: {
    weight: 5,
    can: (_place, { keys }) => keys.length > 0,
    run: async (place, { keys }, random) => {
      const known = keys.filter(({ id }) => place.store.keys[id] !== undefined);
      // A key that Redis lost is one that its gateways may know.
      const key = pick(known.length > 0 && random() < 0.8 ? known : keys, random);
      const gateway = pick(place.gateways, random);
      const admitted = await ask(place, gateway, key, 1 + Math.floor(random() * MOST_AT_ONCE));
      await checkLeft(place, gateway, key);
      return `${admitted} of ${key.id} at ${gateway.name}`;
    },
  },
  'counts come late': {
    weight: 2,
    can: (place) => serving(place) && onRedis(place) && Object.keys(place.store.keys).length > 0,
    run: async (place, _world, random) => {
      const key = pick(Object.keys(place.store.keys), random);
      const day = ago(pick(DAYS_AGO.slice(0, -1), random));
      const requests = 1 + Math.floor(random() * 9);
      const row = { key, plan: 'narrow', operation: 'listPets', day, requests, units: requests };
      const rows = [{ ...row, returned: 0, limited: 0, banned: 0, failed: 0 }];
      await pick(place.gateways, random).take(randomBytes(6).toString('hex'), { keyId: key, rows });
      add(place.store, nameOf(key, day), requests);
      return `${requests} of ${key} on ${day}`;
    },
  },
  'a day is corrected': {
    weight: 2,
    can: (place) => serving(place) && Object.keys(place.store.keys).length > 0,
    run: async ({ gateways, store }, _world, random) => {
      const key = pick(Object.keys(store.keys), random);
      const [id, day] = [randomBytes(6).toString('hex'), ago(pick(DAYS_AGO, random))];
      const requests = Math.floor(random() * 20) - 10 || 1;
      const body = { key, day, requests, units: requests, reason: 'by a test', plan: 'narrow', id };
      await pick(gateways, random).registry.correct(key, body);
      store.keys[key]!.push({ id, day, requests });
      return `${requests} of ${key} on ${day}`;
    },
  },
};
