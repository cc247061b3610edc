import type { Counts, UsageCounts } from '../../records/counts.js';
import type { SubjectState } from '../../../admission/decide.js';
import type { Label } from './label.js';
import { viewOf } from '../../state.js';

/** Offsets of the counts in a stored row: doubles, little-endian. */
const FIELD_AT: Readonly<Record<keyof UsageCounts, number>> = {
  requests: 0,
  limited: 8,
  banned: 16,
  failed: 24,
  units: 32,
  returned: 40,
};
/** Counts without units, which are omitted if every request cost one; with them; and with returned units. */
export const COUNTS_BYTES = 32;
export const MORE_COUNTS_BYTES = 40;
export const ALL_COUNTS_BYTES = 48;

/** A key's counts under one label. */
export interface Slot {
  readonly label: Label;
  readonly counts: Counts;
  /** Number of the record that last changed it. */
  changedBy: number;
}

/** `s`: a key or customer; `a`: an address. Also the first letter of its row in the file. */
export type Kind = 's' | 'a';

/** A subject in memory: its state, and a key's recent counts. */
export class Entry {
  readonly kind: Kind;
  readonly id: string;
  readonly idBytes: Buffer;
  state: SubjectState;
  readonly slots: Slot[] = [];
  /** Number of the record that last changed it; 0 for none. */
  changedBy = 0;

  constructor(kind: Kind, id: string, state: SubjectState) {
    this.kind = kind;
    this.id = id;
    this.idBytes = Buffer.from(id);
    this.state = state;
  }

  slot(label: Label): Slot | undefined {
    for (const slot of this.slots) if (slot.label === label || slot.label.text === label.text) return slot;
    return undefined;
  }

  /** Replaces the counts of a label. */
  put(label: Label, counts: Counts, changedBy: number): Slot {
    const at = this.slots.findIndex((slot) => slot.label.text === label.text);
    const slot = { label, counts, changedBy };
    if (at === -1) this.slots.push(slot);
    else this.slots[at] = slot;
    return slot;
  }

  /** Drops folded counts, except those of `day`. */
  forgetSlots(foldedTo: number, day: string): void {
    let kept = 0;
    for (const slot of this.slots) if (slot.changedBy > foldedTo || slot.label.day === day) this.slots[kept++] = slot;
    this.slots.length = kept;
  }
}

export function countsBytes({ requests, units, returned }: UsageCounts): number {
  if (returned > 0) return ALL_COUNTS_BYTES;
  return units === requests ? COUNTS_BYTES : MORE_COUNTS_BYTES;
}

export function unpackCounts(bytes: Buffer): Counts {
  const requests = bytes.readDoubleLE(FIELD_AT.requests);
  return {
    requests,
    units: bytes.length < MORE_COUNTS_BYTES ? requests : bytes.readDoubleLE(FIELD_AT.units),
    returned: bytes.length < ALL_COUNTS_BYTES ? 0 : bytes.readDoubleLE(FIELD_AT.returned),
    limited: bytes.readDoubleLE(FIELD_AT.limited),
    banned: bytes.readDoubleLE(FIELD_AT.banned),
    failed: bytes.readDoubleLE(FIELD_AT.failed),
  };
}

export function packCounts(counts: UsageCounts): Buffer {
  const bytes = Buffer.allocUnsafe(countsBytes(counts));
  writeCounts(counts, viewOf(bytes), bytes.byteOffset);
  return bytes;
}

/** Writes the counts; returns their size in bytes. */
export function writeCounts(counts: UsageCounts, view: DataView, at: number): number {
  view.setFloat64(at + FIELD_AT.requests, counts.requests, true);
  view.setFloat64(at + FIELD_AT.limited, counts.limited, true);
  view.setFloat64(at + FIELD_AT.banned, counts.banned, true);
  view.setFloat64(at + FIELD_AT.failed, counts.failed, true);
  const size = countsBytes(counts);
  if (size > COUNTS_BYTES) view.setFloat64(at + FIELD_AT.units, counts.units, true);
  if (size > MORE_COUNTS_BYTES) view.setFloat64(at + FIELD_AT.returned, counts.returned, true);
  return size;
}
