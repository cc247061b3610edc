import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { open } from 'lmdb';
import type { EmbeddedEngine, EmbeddedOptions } from '../../src/gateway/store/embedded/engine.js';
import { firstSnapshot } from '../../src/gateway/store/records/snapshot.js';
import type { Plan } from '../../src/gateway/admission/plan.js';
import type { AdmissionRequest } from '../../src/gateway/admission/port.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import type { Sample } from './engine.js';

/**
 * One engine of `engine.ts` in a process of its own: `argv` is its module (or `lmdb`), and the number of
 * keys.
 */
const [, , module = '', keyCount = ''] = process.argv;
/** As many as a gateway admits in the half second between two checkpoints, at 10,000 a second. */
const SLICE = 5_000;
const SLICES = 2;
const PAUSE_MS = 600;
const IMPORTED_AT_ONCE = 5_000;
const OPERATIONS = ['listPets', 'createPet', 'getPet'] as const;
const PLAN: Plan = {
  name: 'open',
  limits: { minute: 100_000_000, day: 100_000_000 },
  refill: 'interval',
  ban: { after: 1_000_000, withinMs: 60_000, forMs: 1_000, factor: 1, capMs: 1_000 },
};
const MAP_BYTES = 2 ** 31;

const folder = mkdtempSync(join(tmpdir(), 'petgate-engine-'));
/** In no order, as ids are. */
const ids = Array.from(
  { length: Number(keyCount) },
  (_, n) => `k${((n * 7_919_317) % 2_147_483_647).toString(36).padStart(11, '0')}`,
);
type Admit = (requests: readonly AdmissionRequest[]) => unknown;

async function openEngine(): Promise<Admit> {
  const { openEmbeddedEngine } = (await import(module)) as {
    openEmbeddedEngine: (options: EmbeddedOptions) => EmbeddedEngine;
  };
  const engine = openEmbeddedEngine({
    folder,
    plans: new Map([[PLAN.name, PLAN]]),
    usageDays: 400,
    mapBytes: MAP_BYTES,
  });
  await fill(engine);
  return (requests) => engine.admit(requests);
}

async function fill({ keys }: EmbeddedEngine): Promise<void> {
  for (let from = 0; from < ids.length; from += IMPORTED_AT_ONCE) {
    const some = ids.slice(from, from + IMPORTED_AT_ONCE);
    await keys.restore(some.map((id) => firstSnapshot(recordOf(id), { atMs: 1, action: 'imported', changed: {} })));
  }
}

function recordOf(id: string): KeyRecord {
  return {
    id,
    plan: PLAN.name,
    name: 'bench',
    note: '',
    status: 'enabled',
    createdAtMs: 1,
    expiresAtMs: null,
    scopes: null,
    limits: null,
    secrets: [{ hash: hashOf(id), endsAtMs: null }],
    version: 1,
  };
}

const hashOf = (id: string): string => `hash-of-${id}`.padEnd(43, 'x');

/** The least that can be: one get and one put of 100 bytes each. */
function openPlain(): Admit {
  const store = open<Buffer, string>(join(folder, 'plain.mdb'), {
    mapSize: MAP_BYTES,
    encoding: 'binary',
    noSync: true,
    overlappingSync: false,
  });
  const row = Buffer.alloc(100);
  return (requests) =>
    store.transactionSync(() => {
      for (const { subject } of requests) {
        if (subject.kind !== 'key') continue;
        store.getBinaryFast(subject.id);
        store.putSync(subject.id, row);
      }
    });
}

const requests = ids.map((id, n): AdmissionRequest => ({
  subject: { kind: 'key', id, secretHash: hashOf(id) },
  operation: OPERATIONS[n % 3]!,
  scope: null,
  cost: 1,
}));
let at = 0;

function next(batch: number): readonly AdmissionRequest[] {
  // New objects and strings for each, as requests bring them.
  return Array.from({ length: batch }, () => {
    const request = requests[(at += 1) % requests.length]!;
    return { ...request, subject: { ...request.subject } };
  });
}

async function measure(admit: Admit, batch: number): Promise<Sample> {
  let callUs = 0;
  const began = process.cpuUsage();
  for (let slice = 0; slice < SLICES; slice += 1) {
    const batches = Array.from({ length: Math.ceil(SLICE / batch) }, () => next(batch));
    const before = process.cpuUsage();
    for (const each of batches) await admit(each);
    callUs += usedSince(before);
    await turn();
    await pause(PAUSE_MS);
  }
  return { callUs: callUs / SLICES / SLICE, allUs: usedSince(began) / SLICES / SLICE };
}

function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const admit = module === 'lmdb' ? openPlain() : await openEngine();
process.on('message', (batch: number) => void measure(admit, batch).then((sample) => process.send?.(sample)));
await once(process, 'disconnect');
rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
process.exit();
