import type { Registry } from 'prom-client';
import type { ArchiveState } from './maintain-archive.js';
import { gaugeOf } from '../../../shared/metrics/gauge.js';

/** Whether the ledger is lost when `store.usage` ends, or Redis with it, and nobody chose so. */
export function watchUnarchived(registry: Registry, unarchived: boolean): void {
  gaugeOf(
    registry,
    'petgate_ledger_unarchived',
    '1 with Redis and no archive, unless store.archive is off; else 0.',
    () => (unarchived ? 1 : 0),
    'max',
  );
}

/** How the ledger's days come into the archive. Once, in the process that moves them. */
export function watchArchive(registry: Registry, state: () => ArchiveState): void {
  gaugeOf(
    registry,
    'petgate_ledger_waiting',
    'Days of the ledger that are due for the archive and not moved, as last seen; above 0 for more than a day: ' +
      'look why.',
    () => state().waiting,
    'max',
  );
  gaugeOf(registry, 'petgate_ledger_archived', 'Days of the ledger in the archive, as last seen.', () => state().days);
  gaugeOf(
    registry,
    'petgate_ledger_lacking',
    'Days of the ledger that were moved to the archive and that it lacks, as last seen: bills need them.',
    () => state().lacking.length,
    'max',
  );
  gaugeOf(
    registry,
    'petgate_ledger_archive_up',
    '0 while the last move to the archive failed, else 1.',
    () => (state().ok === false ? 0 : 1),
    'min',
  );
}
