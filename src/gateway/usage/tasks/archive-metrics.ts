import type { Registry } from 'prom-client';
import type { ArchiveState } from './maintain-archive.js';
import { gaugeOf } from '../../../shared/metrics/gauge.js';

/** Reports whether the ledger has no archive without an operator having chosen so (`store.archive: off`). */
export function watchUnarchived(registry: Registry, unarchived: boolean): void {
  gaugeOf(
    registry,
    'petgate_ledger_unarchived',
    '1 with Redis and no archive, unless store.archive is off; else 0.',
    () => (unarchived ? 1 : 0),
    'max',
  );
}

/** Registers the archive's gauges. Call it only in the process that moves days. */
export function watchArchive(registry: Registry, state: () => ArchiveState): void {
  gaugeOf(
    registry,
    'petgate_ledger_waiting',
    'Days of the ledger that are due for the archive but not moved, as last seen. Investigate if above 0 for ' +
      'more than a day.',
    () => state().waiting,
    'max',
  );
  gaugeOf(registry, 'petgate_ledger_archived', 'Days of the ledger in the archive, as last seen.', () => state().days);
  gaugeOf(
    registry,
    'petgate_ledger_lacking',
    'Days of the ledger that were moved to the archive but that it lacks, as last seen. Bills need them.',
    () => state().lacking.length,
    'max',
  );
  gaugeOf(
    registry,
    'petgate_ledger_archive_up',
    '0 if the archive does not respond or the last move to it failed, else 1.',
    () => (state().ok === false ? 0 : 1),
    'min',
  );
}
