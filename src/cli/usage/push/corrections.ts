import { listIn, type AdminClient, type Json } from '../../client.js';
import type { UsageEvent } from './event.js';
import type { Payers } from './payers.js';
import type { SentCorrections } from './state.js';

/** One that was begun before another may be there after it: so long they are asked for again. */
const OVERLAP_MS = 600_000;

/** Corrections that were not sent yet, the oldest first. */
export async function newCorrections(client: AdminClient, sent: SentCorrections | null): Promise<readonly Json[]> {
  const found = await client.askAll('/admin/v1/usage/corrections', new URLSearchParams(), 'corrections');
  const since = sent === null ? '' : new Date(Date.parse(sent.to) - OVERLAP_MS).toISOString();
  return listIn(found, 'corrections')
    .filter((correction) => momentOf(correction) > since && sent?.ids.includes(idOf(correction)) !== true)
    .sort((a, b) => (momentOf(a) < momentOf(b) ? -1 : 1));
}

/** What was sent, with these. */
export function withSent(sent: SentCorrections | null, corrections: readonly Json[]): SentCorrections {
  const to = momentOf(corrections.at(-1)!);
  const since = new Date(Date.parse(to) - OVERLAP_MS).toISOString();
  const late = corrections.filter((correction) => momentOf(correction) > since).map(idOf);
  return { to, ids: [...(sent === null || sent.to < since ? [] : sent.ids), ...late] };
}

/** The event of a correction, which has one content for ever: it is to be added to what was counted of its day. */
export function correctionEvent(correction: Json, source: string, payerOf: Payers): UsageEvent {
  const { id, key, customer, day, plan, requests, units, reason } = correction as Readonly<
    Record<string, string | null>
  >;
  const subject = typeof key === 'string' ? payerOf(key).subject : payerOf.customer(customer!);
  return {
    specversion: '1.0',
    id: idOf(correction),
    source,
    type: 'petgate.usage.correction.v1',
    subject,
    time: `${day!}T00:00:00Z`,
    datacontenttype: 'application/json',
    data: {
      ...(typeof customer === 'string' ? { customer } : {}),
      ...(typeof key === 'string' ? { key } : {}),
      ...{ plan: plan!, day: day!, requests: Number(requests), units: Number(units) },
      ...{ correction: id!, reason: reason! },
    },
  };
}

function idOf({ id, key, customer }: Json): string {
  return `correction=${encodeURIComponent(String(id))}&of=${String(key ?? customer)}`;
}

function momentOf({ at }: Json): string {
  return String(at);
}
