import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { openEmbeddedEngine } from '../../../../src/gateway/store/embedded/engine.js';
import {
  addressRequest,
  engineOn,
  ENTRY,
  NOON_MS,
  PLANS,
  recordOf,
  requestOf,
  requestsOf,
  tempFolder,
} from './fixture.js';
import { byName } from '../../admission/verdict.js';

t.test('a full store refuses clearly, writes nothing half, and the process lives on', async (t) => {
  const folder = tempFolder(t);
  const small = { mapBytes: 256 * 1_024 };
  const engine = engineOn(t, folder, small);
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  let written = 0;
  const note = 'x'.repeat(2_000);
  await t.rejects(
    (async () => {
      for (; written < 1_000; written += 1) await engine.keys.write(recordOf(`key${written}`, { note }), ENTRY);
    })(),
    { name: 'StoreUnavailable', message: /reached its bound of 262144 bytes. Raise store.map_size/ },
  );
  t.ok(written > 5, `${written} keys fitted`);
  t.equal(await engine.keys.read(`key${written}`), undefined);
  t.strictSame(await engine.keys.history(`key${written}`), []);
  t.equal((await engine.admit([requestOf('k')]))[0]?.outcome, 'admitted', 'admission has its own file');
});

t.test('admissions that do not fit are refused whole, batch by batch', async (t) => {
  const engine = engineOn(t, tempFolder(t), { mapBytes: 128 * 1_024 });
  await engine.keys.write(recordOf('k', { plan: 'open' }), ENTRY);
  let admitted = 0;
  let refused = 0;
  for (let round = 0; round < 60; round += 1) {
    const batch = Array.from({ length: 16 }, (_, index) =>
      requestOf('k', { operation: `operation-${round}-${index}-${'x'.repeat(200)}` }),
    );
    await engine.admit(batch).then(
      (verdicts) => (admitted += verdicts.filter(({ outcome }) => outcome === 'admitted').length),
      (error: unknown) => {
        refused += 1;
        t.match(error, { name: 'StoreUnavailable', message: /reached its bound/ });
      },
    );
  }
  t.ok(admitted >= 16 && refused > 0, `${admitted} admitted, ${refused} batches refused`);
  const [verdict] = await engine.admit([requestOf('k', { cost: 0 })]);
  t.equal(byName(verdict).windows['minute']?.remaining, 1_000_000 - admitted, 'a refused batch spent nothing');
});

t.test('addresses cannot fill the store: beyond the bound they share rows', async (t) => {
  const engine = engineOn(t, tempFolder(t), { mapBytes: 4 * 1_048_576 });
  const batch = (from: number): Promise<unknown> =>
    engine.admit(
      Array.from({ length: 500 }, (_, index) => addressRequest(`2001:db8:${from}:${index}`, { nowMs: NOON_MS })),
    );
  for (let round = 0; round < 40; round += 1) await batch(round);
  await engine.keys.write(recordOf('k'), ENTRY);
  t.equal((await engine.admit([requestOf('k')]))[0]?.outcome, 'admitted');
  const [known] = await engine.admit([addressRequest('2001:db8:0:0', { nowMs: NOON_MS, cost: 0 })]);
  t.equal(byName(known).windows['minute']?.remaining, 2, 'a known address keeps its own row');
  t.equal(await requestsOf(engine, 'k'), 1);
});

t.test('a folder that cannot be used is named, with what to do', (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'file'), '');
  const options = { folder: join(folder, 'file', 'data'), plans: PLANS, usageDays: 400, mapBytes: 1_048_576 };
  t.throws(() => openEmbeddedEngine(options), {
    name: 'StoreUnavailable',
    message: /Cannot open the embedded store in .*file\/data .*PETGATE_DATA/,
  });
  t.end();
});

t.test(
  'so is a folder without permission',
  { skip: process.getuid?.() !== 0 ? 'needs root to become somebody else' : false },
  (t) => {
    const folder = tempFolder(t);
    chmodSync(folder, 0o755);
    const engineUrl = new URL('../../../../src/gateway/store/embedded/engine.js', import.meta.url).href;
    const code = `import { openEmbeddedEngine } from ${JSON.stringify(engineUrl)};
    process.setgid(65534); process.setuid(65534);
    const options = { folder: ${JSON.stringify(folder)}, plans: new Map(), usageDays: 1, mapBytes: 1048576 };
    try { openEmbeddedEngine(options); } catch (error) { console.log(error.name, error.message); }`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    t.match(stdout, /^StoreUnavailable Cannot open the embedded store .*ermission denied/);
    t.end();
  },
);
