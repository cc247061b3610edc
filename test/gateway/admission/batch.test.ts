import t from 'tap';
import { batchAdmission } from '../../../src/gateway/admission/batch.js';
import { StoreUnavailable, type AdmissionRequest } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import type { UnknownKeyVerdict } from '../../../src/gateway/admission/verdict.js';
import { freshId, newKey, openScratchEngine } from './scratch.js';
import { windowOf } from './verdict.js';

const request = (id: string): AdmissionRequest => ({
  subject: { kind: 'key', id, secretHash: 'x' },
  operation: 'listPets',
  scope: null,
  cost: 1,
});
const unknown: UnknownKeyVerdict = { outcome: 'unknown_key', reason: 'unknown' };

t.test('what comes in one turn is one call, and each gets its own verdict', async (t) => {
  const engine = openScratchEngine(t);
  const sizes: number[] = [];
  const admission = batchAdmission(engine, (size) => sizes.push(size));
  const key = await newKey(engine);
  const verdicts = await Promise.all([
    admission.admit(request(freshId())),
    ...Array.from({ length: 5 }, () => admission.admit({ ...request(key.id), subject: key })),
    admission.admit(request(freshId())),
  ]);
  t.same(
    verdicts.map(({ outcome }) => outcome),
    ['unknown_key', ...Array<string>(5).fill('admitted'), 'unknown_key'],
  );
  t.same(
    verdicts.flatMap((verdict) => (verdict.outcome === 'admitted' ? [windowOf(verdict, 'minute').remaining] : [])),
    [59, 58, 57, 56, 55],
    'in their order',
  );
  t.same(sizes, [7]);
  await admission.admit(request(freshId()));
  t.same(sizes, [7, 1], 'the next turn is another call');
});

t.test('a turn with very many is cut into calls of a bounded size', async (t) => {
  const engine = openScratchEngine(t);
  const sizes: number[] = [];
  const admission = batchAdmission(engine, (size) => sizes.push(size));
  const verdicts = await Promise.all(Array.from({ length: 600 }, () => admission.admit(request(freshId()))));
  t.equal(verdicts.length, 600);
  t.same(sizes, [256, 256, 88]);
});

t.test('each that was given up gets what is heard of it later', async (t) => {
  const late = [undefined, Promise.resolve('unknown' as const), Promise.resolve(unknown)];
  const failing = { admit: () => Promise.reject(new StoreUnavailable('away', { late })) } as unknown as AdmissionEngine;
  const admission = batchAdmission(failing, () => undefined);
  const errors = await Promise.all(
    [1, 2, 3].map((n) => admission.admit(request(String(n))).catch((error: unknown) => error as StoreUnavailable)),
  );
  const heard = errors.map((error) => (error instanceof StoreUnavailable ? error.late : []));
  t.same(await Promise.all(heard.map(async ([first]) => await first)), [undefined, 'unknown', unknown]);
});

t.test(
  'when the store fails in the middle of a batch, what it decided stands and only the rest is refused',
  async (t) => {
    const failing = {
      admit: () => Promise.reject(new StoreUnavailable('away', { decided: [unknown, undefined, unknown] })),
    } as unknown as AdmissionEngine;
    const admission = batchAdmission(failing, () => undefined);
    const expiries = await Promise.allSettled([1, 2, 3].map((n) => admission.admit(request(String(n)))));
    t.same(
      expiries.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    t.ok(expiries[1]?.status === 'rejected' && expiries[1].reason instanceof StoreUnavailable);
  },
);
