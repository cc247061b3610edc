import { openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import { PLANS, requestOf } from './fixture.js';

/**
 * One gateway process of a test, driven by messages: `{admit: n, batch}` answers `{admitted}`;
 * `{load: batch}` admits for ever and tells `{admitted}` after each batch, until it is killed.
 */
type Order = { readonly admit: number; readonly batch: number } | { readonly load: number };

const engine = openEmbeddedEngine({
  folder: process.argv[2] ?? '',
  plans: PLANS,
  usageDays: 400,
  mapBytes: 64 * 1_048_576,
});
const tell = (message: object): void => void process.send?.(message);

async function admit(count: number): Promise<number> {
  const verdicts = await engine.admit(Array.from({ length: count }, () => requestOf('k')));
  return verdicts.filter(({ outcome }) => outcome === 'admitted').length;
}

let folding: Promise<void> | undefined;

/** A report folds the journal. */
async function ledger(): Promise<void> {
  for await (const rows of engine.usage.rows('2026-01-01', '2999-12-31')) rows.at(0);
}

async function obey(order: Order): Promise<void> {
  if ('load' in order) {
    for (;;) {
      const admitted = await admit(order.load);
      if (folding === undefined) folding = ledger().finally(() => (folding = undefined));
      // Told before the next batch begins, or what is untold at the kill would have no bound.
      await new Promise((resolve) => process.send?.({ admitted }, resolve));
    }
  }
  const batches = Array.from({ length: order.admit / order.batch }, () => admit(order.batch));
  tell({ admitted: (await Promise.all(batches)).reduce((sum, one) => sum + one, 0) });
}

process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => process.exit());
tell({ ready: true });
