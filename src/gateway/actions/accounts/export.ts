import { text } from 'node:stream/consumers';
import type { CustomerRecord } from '../../store/records/customer.js';
import { allEntries, type OutboxEntry } from '../../store/outbox/event.js';
import type { KeyRecord } from '../../store/records/key.js';
import { DAY_MS, dayOf } from '../../../shared/utc-day.js';
import { MAX_DAYS } from '../../usage/grouping/range.js';
import { banView, customerViews, entryView, eventView, keyView } from './views.js';
import type { AdminParts } from '../action.js';
import { reportOf } from '../usage/reports.js';

/** `{exported, key, history, ban, events, usage}` as JSON. */
export async function* exportOfKey(parts: AdminParts, record: KeyRecord): AsyncGenerator<string, void> {
  const events = await eventsOf(parts, record.id);
  yield `${JSON.stringify({ exported: await momentOf(parts), ...(await keyPart(parts, record, events)) })}\n`;
}

/** `{exported, customer, history, keys}` as JSON; `keys` has the export of each, a key at a time. */
export async function* exportOfCustomer(parts: AdminParts, record: CustomerRecord): AsyncGenerator<string, void> {
  const { registry } = parts;
  const { id } = record;
  const history = (await registry.customers.history(id)).map(entryView);
  const [customer] = await customerViews(parts, [record]);
  const head = { exported: await momentOf(parts), customer, history };
  yield `${JSON.stringify(head).slice(0, -1)},"keys":[`;
  const events = await eventsOf(parts, id);
  let separator = '';
  for (const key of await registry.keysOf(id)) {
    const its = events.filter(({ event }) => event.data.key === key.id);
    yield separator + JSON.stringify(await keyPart(parts, key, its));
    separator = ',\n';
  }
  yield ']}\n';
}

async function keyPart(parts: AdminParts, record: KeyRecord, events: readonly OutboxEntry[]): Promise<object> {
  const { registry, engine } = parts;
  const [key, history, ban] = await Promise.all([
    registry.effective(record),
    registry.history(record.id),
    engine.bans.read(record.id),
  ]);
  return {
    key: keyView(registry.plans(), key, ban, await registry.nowMs()),
    history: history.map(entryView),
    ban: ban === undefined ? null : banView(ban),
    events: events.map(eventView),
    usage: await usageOf(parts, record.id, history[0]?.atMs ?? record.createdAtMs),
  };
}

/** Returns undelivered events about a key or about any key of a customer. */
async function eventsOf({ engine }: AdminParts, id: string): Promise<readonly OutboxEntry[]> {
  const found: OutboxEntry[] = [];
  for await (const entries of allEntries(engine.outbox))
    found.push(...entries.filter(({ event: { data } }) => data.key === id || data.customer === id));
  return found;
}

/** Returns all ledger rows of a key, including the archive, from the day it was created or imported. */
async function usageOf(parts: AdminParts, keyId: string, fromMs: number): Promise<readonly unknown[]> {
  const nowMs = await parts.registry.nowMs();
  const finality = await parts.engine.days.finality(nowMs);
  const rows: unknown[] = [];
  for (let startMs = fromMs; dayOf(startMs) <= dayOf(nowMs); startMs += MAX_DAYS * DAY_MS) {
    const last = Math.min(nowMs, startMs + (MAX_DAYS - 1) * DAY_MS);
    const range = { from: dayOf(startMs), to: dayOf(last), by: ['day', 'plan', 'operation'] as const, ...finality };
    const report = await text(reportOf(parts, 'json', { ...range, key: keyId }, nowMs) as AsyncIterable<Buffer>);
    rows.push(...(JSON.parse(report) as { readonly rows: readonly unknown[] }).rows);
  }
  return rows;
}

async function momentOf({ registry }: AdminParts): Promise<string> {
  return new Date(await registry.nowMs()).toISOString();
}
