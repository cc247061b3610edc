import type { Registry } from 'prom-client';
import type { ArchiveState } from '../archive/keeper.js';
import { gaugeOf, gaugesOf } from './gauge.js';

/** How the ledger's days come into the archive. Once, in the process that moves them. */
export function watchArchive(registry: Registry, state: () => ArchiveState): void {
  gaugeOf(
    registry,
    'petgate_ledger_days_waiting',
    'Days of the ledger that are due for the archive and not moved, as last seen; above 0 for more than a day: look why.',
    () => state().waiting,
    'max',
  );
  gaugeOf(
    registry,
    'petgate_ledger_days_archived',
    'Days of the ledger in the archive, as last seen.',
    () => state().days,
  );
  gaugesOf(
    registry,
    'petgate_ledger_archive_up',
    '1 while the last move to the archive went well, also with nothing to move; else 0; no value before the first.',
    'archive',
    () => {
      const { ok, kind } = state();
      return ok === null ? null : [[kind, ok ? 1 : 0]];
    },
  );
}
