import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { recordRow, SEPARATOR, usageRow } from '../../src/gateway/store/embedded/files/rows.js';
import { openStores } from '../../src/gateway/store/embedded/owner/stores.js';
import { packCounts } from '../../src/gateway/store/embedded/journal/entry.js';
import {
  dayNumberOf,
  KEY_INDEX,
  keyName,
  usageField,
  ledgerName,
} from '../../src/gateway/store/redis/keyspace/names.js';
import { keyRecord } from '../gateway/admission/key-record.js';

/**
 * Fills a store with usage in the very form its engine keeps: keys × days × operations, for benches.
 *
 * node dist/test/bench/seed-usage.js <folder of the embedded engine | redis://host:port> <keys> <days> [idle keys,
 * Redis]
 */
export const OPERATIONS = ['listPets', 'createPet', 'getPet'] as const;
const PLANS = ['free', 'pro', 'business'] as const;
const DAY_MS = 86_400_000;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const COMMIT_ROWS = 20_000;
const WRITE_BYTES = 262_144;

/** Ids as random as real ones, and the same in each run; in order. */
export function seedIds(keys: number): readonly string[] {
  const ids = Array.from({ length: keys }, (_, n) => {
    const bytes = createHash('sha256').update(String(n)).digest();
    return Array.from(bytes.subarray(0, 12), (byte) => DIGITS[byte % 62]!).join('');
  });
  return ids.sort();
}

/** The days before today, oldest first. */
export function seedDays(days: number): readonly string[] {
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  return Array.from({ length: days }, (_, n) => new Date(todayMs - (days - n) * DAY_MS).toISOString().slice(0, 10));
}

const planOf = (place: number): string => PLANS[place % PLANS.length]!;
const requestsOf = (place: number, day: number, operation: number): number =>
  1 + ((place + day * 7 + operation * 3) % 97);

export async function seedEmbedded(folder: string, keys: number, days: number): Promise<void> {
  const stores = openStores({ folder, mapBytes: 64 * 2 ** 30 });
  const { durable } = stores;
  const ids = seedIds(keys);
  let waiting: (() => void)[] = [];
  const commit = async (): Promise<void> => {
    const rows = waiting;
    waiting = [];
    await durable.transaction(() => {
      for (const row of rows) row();
    });
  };
  const put = async (name: string, bytes: Buffer): Promise<void> => {
    waiting.push(() => durable.putSync(name, bytes));
    if (waiting.length >= COMMIT_ROWS) await commit();
  };
  for (const [place, id] of ids.entries()) {
    const record = keyRecord(id, { plan: planOf(place), name: `key ${place}` });
    await put(recordRow(id), Buffer.from(JSON.stringify(record)));
  }
  for (const [n, day] of seedDays(days).entries()) {
    for (const [place, id] of ids.entries()) {
      for (const [m, operation] of [...OPERATIONS.entries()].sort(([, a], [, b]) => (a < b ? -1 : 1))) {
        const requests = requestsOf(place, n, m);
        const counts = packCounts({ requests, units: requests, returned: 0, limited: 0, banned: 0, failed: 0 });
        await put(usageRow(id, [day, planOf(place), operation].join(SEPARATOR)), counts);
      }
    }
  }
  await commit();
  await stores.close();
}

/** @param idle so many keys more, which were never used */
export async function seedRedis(url: string, keys: number, days: number, idle = 0): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let text = '';
  const flush = async (): Promise<void> => {
    const full = socket.write(text, 'latin1');
    text = '';
    if (!full) await once(socket, 'drain');
  };
  const send = (...words: readonly (string | number)[]): void => {
    text += `*${words.length}\r\n${words.map((word) => `$${String(word).length}\r\n${word}\r\n`).join('')}`;
  };
  send('CLIENT', 'REPLY', 'OFF');
  const numbers = seedDays(days).map(dayNumberOf);
  const entries = Buffer.concat(numbers.slice(-31).map((day) => Buffer.of(day & 255, day >> 8)));
  for (const [place, id] of seedIds(keys + idle).entries()) {
    // Idle ones stand between the others.
    const isIdle = Math.floor(((place + 1) * idle) / (keys + idle)) > Math.floor((place * idle) / (keys + idle));
    const plan = planOf(place);
    send('ZADD', KEY_INDEX, 0, id);
    send(
      'HSET',
      keyName(id),
      'plan',
      plan,
      'name',
      `key ${place}`,
      'note',
      '',
      'status',
      'enabled',
      'created',
      0,
      'expires',
      '',
      'scopes',
      '*',
      'minute',
      '',
      'day',
      '',
      'secrets',
      '',
      'version',
      1,
    );
    if (isIdle) continue;
    send('HSET', keyName(id), 'days', entries.toString('latin1'));
    for (const [n, day] of numbers.entries()) {
      send(
        'HSET',
        ledgerName(id, day),
        ...OPERATIONS.flatMap((operation, m) => [usageField(plan, operation, 'requests'), requestsOf(place, n, m)]),
      );
      send('EXPIRE', ledgerName(id, day), 401 * 86_400);
    }
    if (text.length > WRITE_BYTES) await flush();
  }
  send('CLIENT', 'REPLY', 'ON');
  await flush();
  await once(socket, 'data');
  socket.destroy();
}

const [target, keys = '100000', days = '31', idle = '0'] = process.argv.slice(2);
if (process.argv[1]?.endsWith('seed-usage.js') === true && target !== undefined) {
  const startedMs = performance.now();
  if (target.startsWith('redis:')) await seedRedis(target, Number(keys), Number(days), Number(idle));
  else await seedEmbedded(target, Number(keys), Number(days));
  process.stdout.write(
    `${Number(keys) * Number(days) * OPERATIONS.length} rows in ${Math.round(performance.now() - startedMs)} ms\n`,
  );
}
