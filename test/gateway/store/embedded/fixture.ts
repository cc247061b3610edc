import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { engineOn as engineOver, openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import type { EmbeddedEngine, EmbeddedOptions } from '../../../../src/gateway/store/embedded/engine.js';
import { openStores, type Stores } from '../../../../src/gateway/store/embedded/owner/stores.js';
import { storedKeyVerifier } from '../../../../src/gateway/store/embedded/records/verifier.js';
import { sweepOf, type Sweep } from '../../../../src/gateway/store/embedded/sweep.js';
import type { Plan, Plans } from '../../../../src/gateway/admission/plan.js';
import type { AdmissionRequest } from '../../../../src/gateway/admission/port.js';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import type { KeyRecord } from '../../../../src/gateway/store/records/key.js';
import type { AuditEntry } from '../../../../src/gateway/store/records/record.js';
import { BAN } from '../../admission/ban.js';
import { keyRecord } from '../../admission/key-record.js';

export const DAY_MS = 86_400_000;
export const NOON_MS = Date.UTC(2026, 10, 21, 12);

function plan(name: string, limits: Plan['limits'], after = 30): readonly [string, Plan] {
  return [name, { name, limits, refill: 'interval', ban: { ...BAN, after } }];
}
export const PLANS: Plans = new Map([
  plan('free', { minute: 60, day: 1_000 }, 1_000),
  plan('open', { minute: 1_000_000, day: 10_000_000 }),
  plan('strict', { minute: 1, day: 1_000 }, 2),
  plan('enterprise', 'custom'),
  plan('anonymous', { minute: 3, day: 10 }, 1_000),
]);

export const ENTRY: AuditEntry = { atMs: NOON_MS, action: 'created', changed: { plan: 'free' } };

export function recordOf(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return keyRecord(id, { createdAtMs: NOON_MS, secrets: [{ hash: `hash-of-${id}`, endsAtMs: null }], ...changes });
}

export function requestOf(id: string, changes: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    subject: { kind: 'key', id, secretHash: `hash-of-${id}` },
    operation: 'listPets',
    scope: null,
    cost: 1,
    ...changes,
  };
}

export function addressRequest(address: string, changes: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return { subject: { kind: 'address', address }, operation: 'unmatched', scope: null, cost: 1, ...changes };
}

export function tempFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-embedded-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What `kill -9` leaves of a folder that is open: what was written, without an end. */
export function copyOf(t: Test, folder: string): string {
  const copy = tempFolder(t);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

interface Parts {
  readonly engine: EmbeddedEngine;
  readonly stores: Stores;
  readonly sweep: Sweep;
}

/** An engine on `folder` with its parts. */
export function partsOn(t: Test, folder: string, plans: Plans, usageDays: number): Parts {
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576 });
  const verifier = storedKeyVerifier(stores, plans);
  const engine = engineOver(stores, verifier, usageDays);
  t.teardown(() => engine.close());
  return { engine, stores, sweep: sweepOf(stores, usageDays, verifier) };
}

/** An engine on `folder` that closes when the test ends. */
export function engineOn(t: Test, folder: string, changes: Partial<EmbeddedOptions> = {}): EmbeddedEngine {
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 1_048_576, ...changes });
  t.teardown(() => engine.close().catch(() => undefined));
  return engine;
}

export async function ledgerOf(engine: EmbeddedEngine, keyId?: string): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = [];
  for await (const page of engine.usage.rows('2026-01-01', '2027-12-31', keyId)) rows.push(...page);
  return rows;
}

/** All requests the ledger has of a key, over all days. */
export async function requestsOf(engine: EmbeddedEngine, keyId: string): Promise<number> {
  const today = new Date();
  const day = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
  let sum = 0;
  for await (const page of engine.usage.rows(day(today.getTime() - DAY_MS), day(today.getTime() + DAY_MS), keyId)) {
    for (const row of page) sum += row.requests;
  }
  return sum;
}
