import type { Ban, BanStore } from '../../port.js';
import type { Checkpoint } from './checkpoint.js';
import { stateRow } from './rows.js';
import type { Stores } from './stores.js';
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
          const state = turn.state(stateRow(keyId));
          Object.assign(state, { bannedUntilMs: untilMs, banLevel: 1, strikes: 0, strikesSinceMs: 0 });
          turn.change(stateRow(keyId));
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
  const { bannedUntilMs, banLevel } = new Turn(stores).state(stateRow(keyId));
  return bannedUntilMs > Date.now() ? { keyId, untilMs: bannedUntilMs, level: banLevel } : undefined;
}

function lift(stores: Stores, keyId: string): boolean {
  const turn = new Turn(stores);
  const state = turn.state(stateRow(keyId));
  const inForce = state.bannedUntilMs > Date.now();
  Object.assign(state, { bannedUntilMs: 0, banLevel: 0, strikes: 0, strikesSinceMs: 0 });
  turn.change(stateRow(keyId));
  turn.finish();
  return inForce;
}
