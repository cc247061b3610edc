import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openEmbeddedEngine, type EmbeddedEngine } from '../../../src/gateway/store/embedded/engine.js';
import type { Limits } from '../../../src/gateway/admission/bucket.js';
import type { Plan } from '../../../src/gateway/admission/plan.js';
import { KeyRefused } from '../../../src/gateway/accounts/refused.js';
import { KeyRegistry, type RegistryParts } from '../../../src/gateway/accounts/keys/registry.js';
import { parseToken } from '../../../src/gateway/accounts/token.js';
import { BAN } from '../admission/ban.js';

function plan(name: string, limits: Limits | 'custom'): [string, Plan] {
  return [name, { name, limits, refill: 'interval', ban: BAN }];
}

export const PLANS = new Map<string, Plan>([
  plan('free', { minute: 60, day: 1_000 }),
  plan('pro', { minute: 300, day: 10_000 }),
  plan('enterprise', 'custom'),
  plan('anonymous', { minute: 300, day: 10_000 }),
]);
const SCOPES = ['pets:read', 'pets:write'];

/** A real store in a folder of its own, gone with the test. */
export function openStore(t: Test): { readonly engine: EmbeddedEngine; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-keys-'));
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 2 ** 20 });
  t.teardown(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { engine, folder };
}

export function openRegistry(engine: EmbeddedEngine, more: Partial<RegistryParts> = {}): KeyRegistry {
  return new KeyRegistry({
    engine,
    plans: () => PLANS,
    scopes: SCOPES,
    costs: new Map([['createPet', 4]]),
    environment: 'staging',
    acceptImported: false,
    ...more,
  });
}

/** How the engine judges `token` at `nowMs`: the outcome, or why the key is not valid. */
export async function judge(
  engine: EmbeddedEngine,
  token: string,
  nowMs = Date.now(),
  scope: string | null = null,
): Promise<string> {
  const parts = parseToken(token, 'staging', true);
  if (parts === null) return 'no key';
  const [verdict] = await engine.admit([
    { subject: { kind: 'key', ...parts }, operation: 'listPets', scope, cost: 0, nowMs },
  ]);
  if (verdict === undefined) return 'no verdict';
  if (verdict.outcome === 'unknown_key') return verdict.reason;
  return verdict.outcome === 'admitted' && !verdict.inScope ? 'out of scope' : verdict.outcome;
}

export async function refusal(asked: Promise<unknown>): Promise<KeyRefused> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof KeyRefused) return error;
    throw error;
  }
  throw new Error('was not refused');
}

export async function free(registry: KeyRegistry, name = 'My app'): Promise<{ id: string; token: string }> {
  const { record, token } = await registry.create({ plan: 'free', name });
  return { id: record.id, token };
}
