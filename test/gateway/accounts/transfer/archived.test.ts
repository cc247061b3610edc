import { Readable } from 'node:stream';
import t from 'tap';
import { readLines, STORED_LINE_BYTES } from '../../../../src/gateway/actions/input/lines.js';
import { exportStore } from '../../../../src/gateway/accounts/transfer/store-export.js';
import { importStore } from '../../../../src/gateway/accounts/transfer/store-import.js';
import { moveDays } from '../../../../src/gateway/usage/archive/move.js';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { startPostgres } from '../../../servers/postgres.js';
import { startRedis } from '../../../servers/redis.js';
import { ago, agoMs, allRows, archiveOf, openStage, use } from '../../usage/archive/stage.js';

/** Of these the first three move to the archive. */
const DAYS_AGO = [60, 50, 45, 5, 1];

async function move(from: AdmissionEngine, to: AdmissionEngine) {
  const exported: Buffer[] = [];
  for await (const line of exportStore(from, Date.now())) exported.push(Buffer.from(line));
  return importStore(to, readLines(Readable.from([Buffer.concat(exported)]), STORED_LINE_BYTES));
}

t.test('a store whose days are in an archive moves: what came late stays on top of what is there', async (t) => {
  const [old, other, postgres] = await Promise.all([startRedis(), startRedis(), startPostgres()]);
  t.teardown(() => Promise.all([old.stop(), other.stop(), postgres.stop()]));
  const ledger = await postgres.createDatabase('ledger');
  const [first, second] = [await openStage(t, old.url, ledger), await openStage(t, other.url, ledger)];
  const keys = await use(first.engine, 12, DAYS_AGO);
  const archive = await archiveOf(t, first.settings);
  t.equal(await moveDays(first.store, archive, { usage: 400, archive_after: 40 }, () => undefined), true);
  t.same([...(await archive.days()).keys()], DAYS_AGO.slice(0, 3).map(ago));
  const countLate = async (engine: AdmissionEngine): Promise<void> => {
    const late = { operation: 'listPets', scope: null, cost: 1, nowMs: agoMs(50) } as const;
    await engine.admit(keys.slice(0, 3).map(({ subject }) => ({ ...late, subject })));
  };
  await countLate(first.engine);

  const bill = await allRows(first.store, archive);
  t.match(await move(first.engine, second.engine), { added: 13, changed: 0, newer: 0 });
  t.same(await allRows(second.store, archive), bill);
  t.match(await move(first.engine, second.engine), { added: 0, changed: 0, newer: 0, raised: 0 });
  t.same(await allRows(second.store, archive), bill, 'as often as one likes');

  await countLate(first.engine);
  await move(first.engine, second.engine);
  t.same(await allRows(second.store, archive), await allRows(first.store, archive), 'what came late since, too');
  t.notSame(await allRows(second.store, archive), bill);
});
