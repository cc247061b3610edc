import t from 'tap';
import type { UsageRow } from '../../../src/gateway/store/records/counts.js';
import { writeReport } from '../../../src/gateway/usage/report.js';

t.test('the head goes out with the first answer of the store, the rest in few pieces', async (t) => {
  const KEYS = 10_000;
  async function* ledger(): AsyncGenerator<readonly UsageRow[]> {
    for (let n = 0; n < KEYS; n += 1) {
      yield [
        {
          key: `k${n}`,
          plan: 'free',
          operation: 'o',
          day: '2026-01-01',
          requests: 1,
          units: 1,
          returned: 0,
          limited: 0,
          banned: 0,
          failed: 0,
        },
      ];
      await Promise.resolve();
    }
  }
  const pieces: string[] = [];
  for await (const piece of writeReport(
    'csv',
    { from: '2026-01-01', to: '2026-01-01', by: ['key'], openFrom: '2026-01-02' },
    { rows: ledger },
  ))
    pieces.push(piece);
  t.equal(pieces[0], 'key,name,requests,units,returned,limited,banned,failed\r\n');
  t.ok(pieces.length < 6, `${pieces.length} pieces`);
  const lines = pieces.join('').split('\r\n');
  t.equal(lines.length, KEYS + 3);
  t.equal(lines.at(-3), `k${KEYS - 1},,1,1,0,0,0,0`);
  t.equal(lines.at(-2), `total,,${KEYS},${KEYS},0,0,0,0`);
});
