import t from 'tap';
import type { Accounts } from '../../../src/gateway/store/ledger.js';
import type { CustomerRecord } from '../../../src/gateway/store/records/customer.js';
import type { KeyRecord } from '../../../src/gateway/store/records/key.js';
import type { UsageRow } from '../../../src/gateway/store/records/counts.js';
import type { ReportRange } from '../../../src/gateway/usage/grouping/range.js';
import { Names } from '../../../src/gateway/usage/names.js';
import { tableOf } from '../../../src/gateway/usage/table.js';
import { csvField, reportAsCsv, reportAsJson, writeReport } from '../../../src/gateway/usage/report.js';
import { keyRecord } from '../admission/key-record.js';

function customer(id: string, reference: string, name = ''): CustomerRecord {
  return { id, reference, name, status: 'enabled', plan: 'free', limits: null, note: '', createdAtMs: 0, version: 1 };
}

/** Accounts of which these keys and customers are there; `asked` has the ids of each turn of the event loop. */
function accounts(keys: readonly KeyRecord[], customers: readonly CustomerRecord[], asked: string[][] = []): Accounts {
  let turn: string[] | undefined;
  const readOf =
    <R extends { readonly id: string }>(all: readonly R[]) =>
    (id: string): Promise<R | undefined> => {
      if (turn === undefined) {
        asked.push((turn = []));
        setImmediate(() => (turn = undefined));
      }
      turn.push(id);
      return Promise.resolve(all.find((one) => one.id === id));
    };
  const none = (): Promise<[]> => Promise.resolve([]);
  return {
    keys: { read: readOf(keys), page: none, history: none, corrected: none },
    customers: { read: readOf(customers), page: none, history: none, corrected: none },
  };
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
    returned: 0,
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
      tableOf(
        RANGE,
        ledger(
          [row('k1', '2026-01-01'), row('k1', '2026-01-01')],
          [row('k1', '2026-01-02'), row('k2', '2026-01-01')],
          [row('k3', '2026-01-01')],
        ),
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
      {
        key: 'k1',
        name: '',
        day: '2026-01-01',
        requests: 2,
        units: 10,
        returned: 0,
        limited: 4,
        banned: 6,
        failed: 8,
        final: true,
      },
      {
        key: 'k1',
        name: '',
        day: '2026-01-02',
        requests: 1,
        units: 5,
        returned: 0,
        limited: 2,
        banned: 3,
        failed: 4,
        final: false,
      },
      {
        key: 'k2',
        name: '',
        day: '2026-01-01',
        requests: 1,
        units: 5,
        returned: 0,
        limited: 2,
        banned: 3,
        failed: 4,
        final: true,
      },
      {
        key: 'k3',
        name: '',
        day: '2026-01-01',
        requests: 1,
        units: 5,
        returned: 0,
        limited: 2,
        banned: 3,
        failed: 4,
        final: true,
      },
    ],
    totals: { requests: 5, units: 25, returned: 0, limited: 10, banned: 15, failed: 20 },
  });
});

t.test('CSV: columns as documented, CRLF, totals last', async (t) => {
  const rows = [
    row('k1', '2026-01-01', { plan: 'pro' }),
    row('k1', '2026-01-02'),
    row('k2', '2026-01-01', { operation: 'p' }),
  ];
  const csv = async (by: ReportRange['by']): Promise<string> =>
    (await piecesOf(reportAsCsv({ ...RANGE, by }, tableOf({ ...RANGE, by }, ledger(rows))))).join('');
  t.equal(
    await csv(['plan']),
    'plan,requests,units,returned,limited,banned,failed\r\n' +
      'free,2,10,0,4,6,8\r\npro,1,5,0,2,3,4\r\ntotal,3,15,0,6,9,12\r\n',
  );
  t.equal(
    await csv(['operation', 'day']),
    [
      'operation,day,requests,units,returned,limited,banned,failed,final,without',
      'o,2026-01-01,1,5,0,2,3,4,true,',
      'o,2026-01-02,1,5,0,2,3,4,false,',
      'p,2026-01-01,1,5,0,2,3,4,true,',
      'total,,3,15,0,6,9,12,false,',
      '',
    ].join('\r\n'),
  );
  t.equal(
    (await piecesOf(reportAsCsv(RANGE, tableOf(RANGE, ledger())))).join(''),
    'key,name,day,requests,units,returned,limited,banned,failed,final,without\r\ntotal,,,0,0,0,0,0,0,false,\r\n',
  );
});

t.test('by customer: its keys are one row with its reference and name, a key without one is its own', async (t) => {
  // Ids of other keys may begin as a customer's, and stand among its keys.
  const rows = [
    row('0000000000zz', '2026-01-01'),
    row('AAAAAAAA0k1aaa', '2026-01-01'),
    row('AAAAAAAA0zzz', '2026-01-01'),
    row('AAAAAAAA1k2aaa', '2026-01-01'),
    row('AAAAAAAA1k2aaa', '2026-01-02', { plan: 'pro' }),
    row('CCCCCCCC0k1aaa', '2026-01-01'),
  ];
  const asked: string[][] = [];
  const known = accounts(
    [keyRecord('0000000000zz', { name: 'alone' }), keyRecord('AAAAAAAA1k2aaa', { name: '=web' })],
    [customer('AAAAAAAA', 'C-1,"2"', 'Big shop'), customer('BBBBBBBB', 'no traffic')],
    asked,
  );
  const csv = async (by: ReportRange['by'], more: Partial<ReportRange> = {}): Promise<string> => {
    const usage = { rows: () => ledger(...rows.map((one) => [one])) };
    return (await piecesOf(writeReport('csv', { ...RANGE, by, ...more }, usage, known))).join('');
  };
  t.equal(
    await csv(['customer']),
    [
      'customer,reference,name,requests,units,returned,limited,banned,failed',
      '0000000000zz,,alone,1,5,0,2,3,4',
      'AAAAAAAA,"C-1,""2""",Big shop,3,15,0,6,9,12',
      'AAAAAAAA0zzz,,,1,5,0,2,3,4',
      'CCCCCCCC,,,1,5,0,2,3,4',
      'total,,,6,30,0,12,18,24',
      '',
    ].join('\r\n'),
    'what is gone has neither name nor reference',
  );
  t.same(asked.flat(), ['0000000000zz', 'AAAAAAAA', 'AAAAAAAA0zzz', 'CCCCCCCC'], 'each is read once');
  t.match((await csv(['customer', 'plan'])).split('\r\n').slice(2, 5), [
    /^AAAAAAAA,"C-1,""2""",Big shop,free,2,/,
    /^AAAAAAAA0zzz,,,free,1,/,
    /^AAAAAAAA,"C-1,""2""",Big shop,pro,1,/,
  ]);
  const both = (await csv(['key', 'customer'])).split('\r\n');
  t.equal(both[0], 'key,name,customer,reference,customerName,requests,units,returned,limited,banned,failed');
  t.match(both[4], /^AAAAAAAA1k2aaa,'=web,AAAAAAAA,"C-1,""2""",Big shop,2,/);
  asked.length = 0;
  t.match(await csv(['key'], { names: false }), /^key,requests,/);
  t.match(await csv(['plan', 'day']), /^plan,day,requests,/);
  t.same(asked, [], 'and none is read where nobody asks for it');
});

t.test('names of many keys are looked up a page at a time, and the event loop is free in between', async (t) => {
  const KEYS = 1_000;
  const all = Array.from({ length: KEYS }, (_, n) =>
    keyRecord(`k${String(n).padStart(11, '0')}`, { name: `shop ${n}` }),
  );
  const asked: string[][] = [];
  const names = new Names(accounts(all, [], asked));
  const rows = all.map(({ id: key }) => ({
    key,
    name: '',
    requests: 1,
    units: 1,
    returned: 0,
    limited: 0,
    banned: 0,
    failed: 0,
  }));
  const named = await names.added(rows);
  t.same(
    named.map(({ name }) => name),
    all.map(({ name }) => name),
  );
  t.ok(asked.length >= KEYS / 32 && asked.every((page) => page.length <= 32), `${asked.length} pages`);
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
    ["'=1", "''=1"],
    ["'x", "'x"],
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
  const byDay: ReportRange = { ...range, by: ['day'] };
  const csv = (await piecesOf(reportAsCsv(byDay, tableOf(byDay, ledger(rows))))).join('');
  t.same(
    csv.split('\r\n').map((line) => line.split(',').slice(-2).join(' ')),
    ['final without', 'true a b', 'false ', 'false a b', ''],
  );
  const json = JSON.parse((await piecesOf(reportAsJson(byDay, tableOf(byDay, ledger(rows))))).join('')) as {
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
