import type { Ban, BanStore } from '../../port.js';
import type { Checkpoint } from './checkpoint.js';
import type { Stores } from './stores.js';
import type { SubjectRow } from './subject-row.js';
import { Turn } from './turn.js';
import { attempt } from './unavailable.js';

/** Bans stand in the same row as the buckets; what an operator does to one is on disk when the promise ends. */
export function bansOf(stores: Stores, checkpoint: Checkpoint): BanStore {
  return {
    read: (keyId) => attempt(stores, () => stores.recent.transactionSync(() => banOf(stores, keyId))),
    start: async (keyId, untilMs) => {
      await attempt(stores, () =>
        stores.recent.transactionSync(() => {
          const turn = new Turn(stores);
          Object.assign(changed(turn, keyId).state, { bannedUntilMs: untilMs, banLevel: 1, strikes: 0, strikesSinceMs: 0 });
          turn.finish();
        }),
      );
      await checkpoint.run();
    },
    lift: async (keyId) => {
      const lifted = await attempt(stores, () => stores.recent.transactionSync(() => lift(stores, keyId)));
      await checkpoint.run();
      return lifted;
    },
  };
}

function banOf(stores: Stores, keyId: string): Ban | undefined {
  const { bannedUntilMs, banLevel } = new Turn(stores).key(keyId).state;
  return bannedUntilMs > Date.now() ? { keyId, untilMs: bannedUntilMs, level: banLevel } : undefined;
}

function lift(stores: Stores, keyId: string): boolean {
  const turn = new Turn(stores);
  const { state } = changed(turn, keyId);
  const inForce = state.bannedUntilMs > Date.now();
  Object.assign(state, { bannedUntilMs: 0, banLevel: 0, strikes: 0, strikesSinceMs: 0 });
  turn.finish();
  return inForce;
}

function changed(turn: Turn, keyId: string): SubjectRow {
  const row = turn.key(keyId);
  row.changed = true;
  return row;
}
