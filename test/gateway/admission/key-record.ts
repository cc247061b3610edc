import type { KeyRecord } from '../../../src/gateway/store/records/key.js';

/** A new key on plan Free that nobody has a secret of, where `changes` say nothing else. */
export function keyRecord(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    plan: 'free',
    name: 'a key',
    note: '',
    status: 'enabled',
    createdAtMs: 0,
    expiresAtMs: null,
    scopes: null,
    limits: null,
    secrets: [],
    version: 1,
    ...changes,
  };
}
