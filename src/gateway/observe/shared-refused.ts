import { z } from 'zod';
import { itemIn } from './line-file.js';
import type { GatewayNotes } from '../store/port.js';
import { refusedCount, type RefusedCount } from './recent/top-refused.js';

const MINUTE_MS = 60_000;
/** What a gateway writes: at most 20 kB. */
const ROWS = 50;
const COUNTS = z.array(refusedCount);

/** Writes whom this gateway refused most, for the others. Rejects with StoreUnavailable. */
export async function shareRefused(notes: GatewayNotes, counts: readonly RefusedCount[], nowMs: number): Promise<void> {
  const minute = Math.floor(nowMs / MINUTE_MS);
  await notes.write(nameOf(minute), JSON.stringify(counts.slice(0, ROWS)), 3 * MINUTE_MS);
}

/** Returns whom the other gateways refused most, as of their last note. Rejects with StoreUnavailable. */
export async function refusedElsewhere(notes: GatewayNotes, nowMs: number): Promise<readonly RefusedCount[]> {
  const minute = Math.floor(nowMs / MINUTE_MS);
  // The clocks of the gateways may differ.
  const read = await Promise.all([minute - 1, minute, minute + 1].map((one) => notes.read(nameOf(one))));
  const latest = new Map(read.flatMap((texts) => [...texts]));
  latest.delete(notes.own);
  return [...latest.values()].flatMap((text) => itemIn(text, COUNTS).flat());
}

function nameOf(minute: number): string {
  return `refused:${minute}`;
}
