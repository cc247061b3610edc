import { listIn, type AdminClient, type Json } from '../../admin/admin-client.js';
import { eventFor, type UsageEvent } from './event.js';
import type { Payers } from './payers.js';

/**
 * Resolves to the corrections whose event is not in `sent`, oldest first. IDs decide, not times: the clock that dated a
 * correction may have been behind.
 */
export async function unsentCorrections(client: AdminClient, sent: ReadonlySet<string>): Promise<readonly Json[]> {
  const found = await client.askAll('/admin/v1/usage/corrections', new URLSearchParams(), 'corrections');
  return listIn(found, 'corrections')
    .filter((correction) => !sent.has(idOf(correction)))
    .sort((a, b) => (String(a['at']) < String(b['at']) ? -1 : 1));
}

/**
 * Returns the event of a correction, to be added to the counts of its day.
 * @param isAmountSent the amount of its month was saved without it
 */
export function correctionEvent(correction: Json, source: string, payers: Payers, isAmountSent: boolean): UsageEvent {
  const { id, key, customer, day, plan, requests, units, reason, at } = correction;
  return eventFor(String(day), {
    id: idOf(correction),
    ...{ source, type: 'petgate.usage.correction.v1' },
    subject: payers.subjectOf(String(customer ?? key)),
    data: {
      ...(typeof customer === 'string' ? { customer } : {}),
      ...(typeof key === 'string' ? { key } : {}),
      ...{ plan, day, requests, units, net: units, correction: id, reason, at },
      ...(isAmountSent ? { notInAmount: true } : {}),
    },
  });
}

/** Returns the ID of a correction's event. */
function idOf({ id, key, customer }: Json): string {
  return `correction=${encodeURIComponent(String(id))}&of=${String(key ?? customer)}`;
}

/** Returns the month of the day that it corrects: `2026-11`. */
export function monthOf({ day }: Json): string {
  return String(day).slice(0, 7);
}
