import { copyFileSync, readFileSync } from 'node:fs';
import type { Log } from '../../../../shared/log.js';
import { TAKEN_MARK } from '../files/rows.js';
import { doubleIn, type Store } from '../files/database.js';
import { journalFiles, journalPath } from './journal.js';
import type { Memory } from './memory.js';
import { recordsIn } from './record.js';

/**
 * Reads the journal into memory; returns the number of the last record. Bytes that are not a valid record are skipped,
 * and their file is copied and logged. An interrupted write leaves such bytes, but was never acknowledged.
 */
export function replay(folder: string, durable: Store, memory: Memory, log: Log | undefined): number {
  const takenTo = doubleIn(durable, TAKEN_MARK);
  let last = takenTo;
  for (const number of journalFiles(folder)) {
    const file = journalPath(folder, number);
    let [damagedAt, invalid] = [0, 0];
    for (const record of recordsIn(readFileSync(file))) {
      if ('invalid' in record) {
        if (invalid === 0) damagedAt = record.at;
        invalid += record.invalid;
        continue;
      }
      memory.apply(record, takenTo);
      last = Math.max(last, record.number);
    }
    if (invalid === 0) continue;
    const copiedTo = `${file}.damaged`;
    copyFileSync(file, copiedTo);
    log?.error(
      { file, copiedTo, at: damagedAt, bytes: invalid },
      'part of a journal file of the embedded store is damaged; that part was skipped, the rest was read',
    );
  }
  return last;
}
