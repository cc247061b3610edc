import { openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import { PLANS, requestOf } from './fixture.js';

/**
 * One gateway process of a test, driven by messages: `{admit: n, batch}` answers `{admitted}`.
 */
interface Order {
  readonly admit: number;
  readonly batch: number;
}

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

async function obey(order: Order): Promise<void> {
  const batches = Array.from({ length: order.admit / order.batch }, () => admit(order.batch));
  tell({ admitted: (await Promise.all(batches)).reduce((sum, one) => sum + one, 0) });
}

process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => process.exit());
tell({ ready: true });
