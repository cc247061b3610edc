import { openLedger } from '../../../src/gateway/usage/archive/ledger.js';
import { ledgerOf, reportOn } from '../../../src/gateway/usage/report.js';
import { until } from '../../servers/until.js';
import type { Gateway } from './gateway.js';
import { add, billOf, dayIn, isKnown, lackingDays, maybeLackingDays, nameOf, type Bill } from './model.js';
import type { Place } from './place.js';
import { ago, TODAY, type World } from './world.js';

/** Of a call that is to fail. */
const HASTY_MS = 100;
/** Longer than it takes all gateways to hear what one proves. */
const SEEN_MS = 5_000;
/** Names of errors that a report may end with. */
const REFUSALS = new Set(['StoreUnavailable', 'ArchiveUnavailable', 'ArchiveDamaged']);

/** What billing is told: requests by `<key> <day>`, or the error that it is refused with. */
async function reportOf(gateway: Gateway, from: string, deadlineMs?: number): Promise<Bill | Error> {
  const { engine, settings } = gateway;
  const ledger = settings.store.redis === undefined ? null : openLedger(gateway.ledgerSettings(deadlineMs));
  const range = { from, to: TODAY, by: ['key', 'day'], names: false, openFrom: TODAY } as const;
  try {
    const { report } = await reportOn(range, ledgerOf(range, ledger ?? engine.usage), ledger?.accounts ?? engine);
    const all: (readonly [name: string, n: number])[] = [];
    for await (const rows of report.rows)
      for (const { key = '', day = '', requests, correctedRequests = 0 } of rows)
        all.push([nameOf(key, day), requests + correctedRequests]);
    return Object.fromEntries(all.filter(([, n]) => n !== 0));
  } catch (error) {
    if (error instanceof Error && REFUSALS.has(error.name)) return error;
    throw error;
  } finally {
    await ledger?.close();
  }
}

/** Thrown where a report is not the model's bill. */
export class WrongBill extends Error {
  override readonly name = 'WrongBill';
}

/** Holds the reports of a place against the model. Gives the name of the refusal, where there is one. */
export async function checkBill(world: World, place: Place, gateway: Gateway): Promise<string | null> {
  const isRefused = place.isDown || place.isDistrusted;
  // Each takes seconds, for a busy store is asked again.
  if (isRefused && place.wasRefused) return 'StoreUnavailable';
  let whole = await reportOf(gateway, ago(99), isRefused ? HASTY_MS : undefined);
  // That Redis is older than a gateway knows may be found only now.
  if (whole instanceof Error && whole.name === 'StoreUnavailable')
    await until('the store is not trusted', () => place.isDown || place.isDistrusted, SEEN_MS).catch(() => undefined);
  place.wasRefused = (place.isDown || place.isDistrusted) && whole instanceof Error;
  if (place.wasRefused) return (whole as Error).name;
  if (whole instanceof Error) whole = await reportOf(gateway, ago(99));
  const archive = place.redis === null ? {} : world.archive;
  // Anew for each report: what became of requests may be known from the one before.
  const bill = (): Bill => billOf(place.store, archive);
  const recent = await reportOf(gateway, ago(20));
  if (recent instanceof Error) throw new WrongBill(`a report without the archive was refused: ${recent.message}`);
  compare(place, Object.fromEntries(Object.entries(bill()).filter(([name]) => dayIn(name) >= ago(20))), recent);
  const missing = lackingDays(place.store, archive);
  if (whole instanceof Error) {
    if (maybeLackingDays(place.store, archive).length > 0) return whole.name;
    throw new WrongBill(`the report was refused: ${whole.message}`);
  }
  if (missing.length > 0) throw new WrongBill(`a bill without ${missing.join(', ')}, which the archive lacks`);
  compare(place, bill(), whole);
  return null;
}

function compare({ store, unknown }: Place, expected: Bill, found: Bill): void {
  const wrong: string[] = [];
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const more = (found[name] ?? 0) - (expected[name] ?? 0);
    // What was counted of a key that the store does not know yet is billed once it knows it.
    if (more === 0 || (found[name] === undefined && !isKnown(store, name))) continue;
    // What became of these requests is known now.
    if (more > 0 && more <= (unknown[name] ?? 0)) add(store, name, more);
    else wrong.push(`${name}: ${expected[name] ?? 0} expected, billed ${found[name] ?? 0}`);
    unknown[name] = 0;
  }
  if (wrong.length > 0) throw new WrongBill(wrong.join('; '));
}
