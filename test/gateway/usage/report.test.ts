import t from 'tap';
import type { CustomerRecord } from '../../../src/gateway/store/records/customer.js';
import type { UsageRow } from '../../../src/gateway/store/port.js';
import type { ReportRange } from '../../../src/gateway/usage/range.js';
import { References, type CustomerPages } from '../../../src/gateway/usage/references.js';
import { csvField, reportAsCsv, reportAsJson } from '../../../src/gateway/usage/report.js';

function customer(id: string, reference: string): CustomerRecord {
  const status = 'enabled';
  return { id, reference, status, name: '', plan: 'free', limits: null, note: '', createdAtMs: 0, version: 1 };
}

const RANGE: ReportRange = { from: '2026-01-01', to: '2026-01-02', by: ['key', 'day'], openFrom: '2026-01-02' };

function row(key: string, day: string, changes: Partial<UsageRow> = {}): UsageRow {
  return {
    key,
    plan: 'free',
    operation: 'o',
    day,
    requests: 1,
    units: 5,
    limited: 2,
    banned: 3,
    failed: 4,
    ...changes,
  };
}

async function* ledger(...batches: readonly (readonly UsageRow[])[]): AsyncGenerator<readonly UsageRow[]> {
  await Promise.resolve();
  yield* batches;
}

async function piecesOf(chunks: AsyncIterable<string>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return pieces;
}

t.test('a key is out before the next is complete, and days are marked final', async (t) => {
  const pieces = await piecesOf(
    reportAsJson(
      RANGE,
      ledger(
        [row('k1', '2026-01-01'), row('k1', '2026-01-01')],
        [row('k1', '2026-01-02'), row('k2', '2026-01-01')],
        [row('k3', '2026-01-01')],
      ),
    ),
  );
  t.match(pieces[0], /"rows":\[$/, 'the head comes with the first answer of the store');
  t.match(pieces[1], /k1/);
  t.notMatch(pieces[1], /k2/);
  t.same(JSON.parse(pieces.join('')), {
    from: '2026-01-01',
    to: '2026-01-02',
    by: ['key', 'day'],
    final: false,
    waitingFor: [],
    without: [],
    rows: [
      { key: 'k1', day: '2026-01-01', requests: 2, units: 10, limited: 4, banned: 6, failed: 8, final: true },
      { key: 'k1', day: '2026-01-02', requests: 1, units: 5, limited: 2, banned: 3, failed: 4, final: false },
      { key: 'k2', day: '2026-01-01', requests: 1, units: 5, limited: 2, banned: 3, failed: 4, final: true },
      { key: 'k3', day: '2026-01-01', requests: 1, units: 5, limited: 2, banned: 3, failed: 4, final: true },
    ],
    totals: { requests: 5, units: 25, limited: 10, banned: 15, failed: 20 },
  });
});

t.test('CSV: columns as documented, CRLF, totals last', async (t) => {
  const rows = [
    row('k1', '2026-01-01', { plan: 'pro' }),
    row('k1', '2026-01-02'),
    row('k2', '2026-01-01', { operation: 'p' }),
  ];
  const csv = async (by: ReportRange['by']): Promise<string> =>
    (await piecesOf(reportAsCsv({ ...RANGE, by }, ledger(rows)))).join('');
  t.equal(
    await csv(['plan']),
    'plan,requests,units,limited,banned,failed\r\nfree,2,10,4,6,8\r\npro,1,5,2,3,4\r\ntotal,3,15,6,9,12\r\n',
  );
  t.equal(
    await csv(['operation', 'day']),
    [
      'operation,day,requests,units,limited,banned,failed,final,without',
      'o,2026-01-01,1,5,2,3,4,true,',
      'o,2026-01-02,1,5,2,3,4,false,',
      'p,2026-01-01,1,5,2,3,4,true,',
      'total,,3,15,6,9,12,false,',
      '',
    ].join('\r\n'),
  );
  t.equal(
    (await piecesOf(reportAsCsv(RANGE, ledger()))).join(''),
    'key,day,requests,units,limited,banned,failed,final,without\r\ntotal,,0,0,0,0,0,false,\r\n',
  );
});

t.test('by customer: its keys are one row with its reference, and a key without one is its own', async (t) => {
  // Ids of other keys may begin as a customer's, and stand among its keys.
  const rows = [
    row('0000000000zz', '2026-01-01'),
    row('AAAAAAAA0k1aaa', '2026-01-01'),
    row('AAAAAAAA0zzz', '2026-01-01'),
    row('AAAAAAAA1k2aaa', '2026-01-01'),
    row('AAAAAAAA1k2aaa', '2026-01-02', { plan: 'pro' }),
    row('CCCCCCCC0k1aaa', '2026-01-01'),
  ];
  const pages: (string | null)[] = [];
  const customers: CustomerPages = (after) => {
    pages.push(after);
    const all = [customer('AAAAAAAA', 'C-1,"2"'), customer('BBBBBBBB', 'no traffic')];
    return Promise.resolve(all.filter(({ id }) => after === null || id > after));
  };
  const csv = async (by: ReportRange['by']): Promise<string> => {
    const batches = rows.map((one) => [one]);
    const report = reportAsCsv({ ...RANGE, by }, ledger(...batches), new References(customers));
    return (await piecesOf(report)).join('');
  };
  t.equal(
    await csv(['customer']),
    [
      'customer,reference,requests,units,limited,banned,failed',
      '0000000000zz,,1,5,2,3,4',
      'AAAAAAAA,"C-1,""2""",3,15,6,9,12',
      'AAAAAAAA0zzz,,1,5,2,3,4',
      'CCCCCCCC,,1,5,2,3,4',
      'total,,6,30,12,18,24',
      '',
    ].join('\r\n'),
    'a customer that is gone has no reference',
  );
  t.same(pages, [null], 'read once');
  t.match((await csv(['customer', 'plan'])).split('\r\n').slice(2, 5), [
    /^AAAAAAAA,"C-1,""2""",free,2,/,
    /^AAAAAAAA0zzz,,free,1,/,
    /^AAAAAAAA,"C-1,""2""",pro,1,/,
  ]);
  t.match((await csv(['key', 'customer'])).split('\r\n')[4], /^AAAAAAAA1k2aaa,AAAAAAAA,"C-1,""2""",2,/);
});

t.test('no cell ends its line or runs as a formula', (t) => {
  for (const [text, field] of [
    ['a,"b"', '"a,""b"""'],
    ['a\nb', '"a\nb"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@x', "'@x"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['1-1', '1-1'],
  ] as const)
    t.equal(csvField(text), field);
  t.end();
});

t.test('a day that became final without a gateway says so in its rows and in the report', async (t) => {
  const missing = (gateway: string, from: string, to: string) => ({
    gateway,
    host: 'h',
    from,
    to,
    seenMs: 0,
    finalAtMs: null,
  });
  const range = {
    ...RANGE,
    without: [
      missing('a', '2025-12-31', '2026-01-01'),
      missing('b', '2026-01-01', '2026-01-09'),
      missing('c', '2025-12-01', '2025-12-02'),
    ],
  };
  const rows = ['2026-01-01', '2026-01-02'].map((day) => row('k', day));
  const csv = (await piecesOf(reportAsCsv({ ...range, by: ['day'] }, ledger(rows)))).join('');
  t.same(
    csv.split('\r\n').map((line) => line.split(',').slice(-2).join(' ')),
    ['final without', 'true a b', 'false ', 'false a b', ''],
  );
  const json = JSON.parse((await piecesOf(reportAsJson({ ...range, by: ['day'] }, ledger(rows)))).join('')) as {
    rows: { without?: string }[];
    without: { gateway: string }[];
  };
  t.same(
    json.rows.map(({ without }) => without),
    ['a b', undefined],
  );
  t.same(
    json.without.map(({ gateway }) => gateway),
    ['a', 'b'],
  );
});
