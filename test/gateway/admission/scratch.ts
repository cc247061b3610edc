import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedEngine } from '../../../src/gateway/store/embedded/engine.js';
import type { Plan, Plans } from '../../../src/gateway/admission/plan.js';
import type { Subject } from '../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../src/gateway/store/port.js';
import { makeToken } from '../../../src/gateway/accounts/token.js';
import type { Teardown } from '../../servers/program.js';
import { NO_BAN } from './ban.js';
import { keyRecord } from './key-record.js';

const plan = (name: string, minute: number): readonly [string, Plan] => [
  name,
  { name, limits: { minute, day: 1_000_000 }, refill: 'interval', ban: NO_BAN },
];
const PLANS: Plans = new Map([plan('free', 60), plan('tiny', 1), plan('anonymous', 1000)]);

/** A real embedded engine in a folder that goes with the test. */
export function openScratchEngine(t: Teardown): AdmissionEngine {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-'));
  const engine = openEmbeddedEngine({
    folder: join(folder, 'admission'),
    plans: PLANS,
    usageDays: 400,
    mapBytes: 64 * 1024 * 1024,
  });
  t.teardown(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return engine;
}

/** An id that no key has. */
export function freshId(): string {
  return makeToken('development').id;
}

/** A new key's token, and the subject that its holder is. */
export async function newKey(
  engine: AdmissionEngine,
  planName = 'free',
  scopes: readonly string[] | null = null,
): Promise<Extract<Subject, { kind: 'key' }> & { readonly token: string }> {
  const { id, token, secretHash } = makeToken('development');
  await engine.keys.write(keyRecord(id, { plan: planName, scopes, secrets: [{ hash: secretHash, endsAtMs: null }] }), {
    atMs: 0,
    action: 'created',
    changed: {},
  });
  return { kind: 'key', id, secretHash, token };
}
