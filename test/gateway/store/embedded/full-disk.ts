import { openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import { ENTRY, PLANS, recordOf, requestOf } from './fixture.js';

/** Run on a disk of 400 KiB by `full-disk.test.ts`: fills it, makes room, and prints what happened as JSON. */
const engine = openEmbeddedEngine({
  folder: process.argv[2] ?? '',
  plans: PLANS,
  usageDays: 400,
  mapBytes: 1_073_741_824,
});
await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);

let admitted = 0;
const refusals = new Set<string>();
const told = (error: unknown): void => void refusals.add(error instanceof Error ? error.name : String(error));
for (let round = 0; round < 100; round += 1) {
  const batch = Array.from({ length: 16 }, (_, index) =>
    requestOf('k', { operation: `${round}-${index}-${'x'.repeat(100)}` }),
  );
  await engine.admit(batch).then((verdicts) => (admitted += verdicts.length), told);
}
await engine.keys.write(recordOf('l', { note: 'x'.repeat(100_000) }), ENTRY).catch(told);
const probe = await engine.check().then(
  () => 'good',
  (error: unknown) => String(error),
);
const [verdict] = await engine.admit([requestOf('k', { cost: 0 })]);
await engine.close().catch(told);
process.stdout.write(JSON.stringify({ admitted, refusals: [...refusals], verdict, probe }));
