import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openEmbeddedEngine, type EmbeddedEngine } from '../../../src/gateway/store/embedded/engine.js';
import type { Limits } from '../../../src/gateway/admission/bucket.js';
import type { Plan } from '../../../src/gateway/admission/plan.js';
import type { AdmissionRequest } from '../../../src/gateway/admission/port.js';
import type { Body } from '../../../src/gateway/accounts/fields.js';
import { KeyRefused } from '../../../src/gateway/accounts/refused.js';
import { KeyRegistry, type RegistryParts } from '../../../src/gateway/accounts/keys/registry.js';
import type { ImportLine } from '../../../src/gateway/accounts/transfer/import.js';
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

/** A registry on a store of its own. */
export function openBoth(t: Test, more: Partial<RegistryParts> = {}) {
  const { engine } = openStore(t);
  return { engine, registry: openRegistry(engine, more) };
}

/** A request with a key of these registries. */
export function requestWith(token: unknown, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const subject = { kind: 'key' as const, ...parseToken(String(token), 'staging', true)! };
  return { subject, operation: 'listPets', scope: null, cost: 1, ...more };
}

/** How the engine judges `token` at `nowMs`: the outcome, or why the key is not valid. */
export async function judge(
  engine: EmbeddedEngine,
  token: unknown,
  nowMs = Date.now(),
  scope: string | null = null,
  cost = 0,
): Promise<string> {
  const [verdict] = await engine.admit([requestWith(token, { scope, cost, nowMs })]);
  if (verdict === undefined) return 'no verdict';
  if (verdict.outcome === 'unknown_key') return verdict.reason;
  return verdict.outcome === 'admitted' && !verdict.inScope ? 'out of scope' : verdict.outcome;
}

/** The lines of an import, numbered from 1. */
export async function* linesOf(bodies: readonly Body[]): AsyncGenerator<ImportLine> {
  for (const [index, body] of bodies.entries()) yield await Promise.resolve({ line: index + 1, body });
}

/** All that the files in a folder hold, as text. */
export function filesIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
}

export function refusal(asked: Promise<unknown>): Promise<KeyRefused> {
  return rejection(asked, KeyRefused);
}

/** The error of this class that a promise rejects with. */
export async function rejection<E extends Error>(
  asked: Promise<unknown>,
  kind: abstract new (...parts: never[]) => E,
): Promise<E> {
  const error: unknown = await asked.then(
    () => new Error('was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof kind) return error;
  throw error;
}

export async function free(registry: KeyRegistry, name = 'My app'): Promise<{ id: string; token: string }> {
  const { record, token } = await registry.create({ plan: 'free', name });
  return { id: record.id, token };
}
