import type { AdmissionRequest } from '../../../../src/gateway/admission/port.js';
import type { Plans } from '../../../../src/gateway/admission/plan.js';
import type { Verdict } from '../../../../src/gateway/admission/verdict.js';
import { AccessLine } from '../../../../src/gateway/observe/log/access-line.js';
import { limitReached } from '../../../../src/gateway/refusal.js';
import { operationTerms } from '../../../../src/gateway/admission/windows.js';
import { ADMITTED, DAY, MINUTE } from '../../admission/verdict.js';
import { makeExchange } from '../../exchange.js';

export const NOON_MS = Date.UTC(2026, 10, 21, 12);
const BAN = { after: 6, withinMs: 10_000, forMs: 20_000, factor: 2, capMs: 3_600_000 };

/** Plans with all that a plan may have. */
export function plansWith(change: { readonly day?: number; readonly minute?: number } = {}): Plans {
  const { day = 60, minute = 9 } = change;
  return new Map(
    Object.values({
      free: { name: 'free', limits: { minute, day }, refill: 'interval', ban: BAN },
      drip: { name: 'drip', limits: { minute: 7, day: 90, month: 200 }, refill: 'greedy', ban: BAN },
      priced: {
        name: 'priced',
        limits: { minute: 30, day: 400, month: 1_500 },
        refill: 'interval',
        ban: BAN,
        operations: operationTerms({ createPet: { cost: 6, minute: 12 }, listPets: { day: 40 } }),
      },
      enterprise: { name: 'enterprise', limits: 'custom', refill: 'interval', ban: BAN },
      anonymous: { name: 'anonymous', limits: { minute: 5, day: 50 }, refill: 'interval', ban: BAN },
    } as const).map((plan) => [plan.name, plan]),
  );
}

/** Numbers from 0 to below 1, always the same. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

let exchanges = 0;

/** The line that a gateway writes about a decided request. */
export function lineOf({ subject, operation, cost }: AdmissionRequest, verdict: Verdict): string {
  if (verdict.outcome === 'unknown_key') throw new Error(`a key is ${verdict.reason}`);
  const address = subject.kind === 'address' ? subject.address : '192.0.2.77';
  const { exchange } = makeExchange({ id: `id-${(exchanges += 1)}`, address, addressBucket: address });
  Object.assign(exchange.logEntry, { operation, verdict, contractCost: cost });
  Object.assign(exchange.logEntry, {
    counted: verdict.outcome === 'admitted' && verdict.keyId !== null,
    refusal: verdict.outcome === 'limited' ? limitReached(verdict.violated) : null,
  });
  return String(new AccessLine(exchange, verdict.outcome === 'admitted' ? 200 : 429, 1, '')).trimEnd();
}

export const KEY = { kind: 'key', id: 'AbCdEf123456', secretHash: '' } as const;
type Left = readonly [limit: number, left: number];

/** The line of an admitted request of that key, with what it left of a minute and of a day. */
export function admittedLine(atMs: number, minute: Left, day: Left, minuteEndMs = NOON_MS + 60_000): string {
  const windows = [
    { ...MINUTE, limit: minute[0], remaining: minute[1], resetAtMs: minuteEndMs },
    { ...DAY, limit: day[0], remaining: day[1], resetAtMs: NOON_MS + 43_200_000 },
  ];
  const request = { subject: KEY, operation: 'listPets', scope: null, cost: 1 };
  return lineOf(request, { ...ADMITTED, keyId: KEY.id, windows, atMs });
}
