/**
 * A child process that counts on all keys it is notified of, over many days, until it is killed. See
 * active-days.test.ts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import { createReporter } from '../../../src/gateway/store/settlements.js';
import { StoreUnavailable, type Subject } from '../../../src/gateway/admission/port.js';
import { NOON_MS } from '../../conformance/cast.js';
import { openEngine } from '../../conformance/open.js';

export interface Orders {
  readonly url: string;
  readonly keys: readonly { readonly id: string; readonly subject: Subject }[];
  readonly days: number;
}

const { url, keys, days } = JSON.parse(process.argv[2] ?? '') as Orders;
const engine = openEngine({ engine: 'redis', url });
const reportsOf = createReporter();
process.once('disconnect', () => process.exit());
await engine.check();
process.send?.('ready');

const any = (count: number): number => Math.floor(Math.random() * count);
// Slowly: most keys are to have few counts of a day, so that one that is missed stays missed.
for (;;) {
  await pause(2);
  const some = Array.from({ length: 4 }, () => ({ key: keys[any(keys.length)]!, atMs: NOON_MS + any(days) * DAY_MS }));
  const counted = { plan: 'open', operation: 'getPet' };
  await Promise.all([
    engine.admit(
      some.map(({ key, atMs }) => ({
        subject: key.subject,
        operation: 'listPets',
        scope: null,
        cost: 1 as const,
        nowMs: atMs,
      })),
    ),
    engine.settle(
      reportsOf(some.map(({ key, atMs }) => ({ ...counted, keyId: key.id, admittedAtMs: atMs, isFailed: true }))),
    ),
  ]).catch((error: unknown) => {
    // The store was killed too.
    if (!(error instanceof StoreUnavailable)) throw error;
  });
}
