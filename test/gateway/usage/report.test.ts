import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import type { Accounts } from '../../../src/gateway/store/ledger.js';
import type { CustomerRecord } from '../../../src/gateway/store/records/customer.js';
import type { KeyRecord } from '../../../src/gateway/store/records/key.js';
import type { UsageRow } from '../../../src/gateway/store/records/counts.js';
import type { ReportRange } from '../../../src/gateway/usage/grouping/range.js';
import { withNames } from '../../../src/gateway/usage/names.js';
import { reportOn } from '../../../src/gateway/usage/report.js';
import { reportIn } from '../../../src/gateway/usage/grouping/report-rows.js';
import { csvField, writeReport, type Format } from '../../../src/gateway/usage/report-text.js';
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

const counts = (times = 1) => ({
  ...{ requests: times, units: 5 * times, returned: 0 },
  ...{ limited: 2 * times, banned: 3 * times, failed: 4 * times },
});

function row(key: string, day: string, changes: Partial<UsageRow> = {}): UsageRow {
  return { key, plan: 'free', operation: 'o', day, ...counts(), ...changes };
}

async function* ledger(...batches: readonly (readonly UsageRow[])[]): AsyncGenerator<readonly UsageRow[]> {
  await Promise.resolve();
  yield* batches;
}

function written(
  format: Format,
  range: Partial<ReportRange>,
  rows: readonly UsageRow[] = [],
  known?: Accounts,
): Promise<string> {
  const usage = { rows: () => ledger(...rows.map((one) => [one])) };
  return text(writeReport(format, { ...RANGE, ...range }, usage, known));
}

t.test('a key is out before the next is complete, and days are marked final', async (t) => {
  const { report } = await reportOn(
    RANGE,
    ledger(
      [row('k1', '2026-01-01'), row('k1', '2026-01-01')],
      [row('k1', '2026-01-02'), row('k2', '2026-01-01')],
      [row('k3', '2026-01-01')],
    ),
  );
  const of = (key: string, day: string, times = 1) => ({
    key,
    name: '',
    day,
    ...counts(times),
    final: day < '2026-01-02',
  });
  t.same(JSON.parse(JSON.stringify(await Readable.from(report.rows).toArray())), [
    [],
    [of('k1', '2026-01-01', 2), of('k1', '2026-01-02')],
    [of('k2', '2026-01-01')],
    [of('k3', '2026-01-01')],
  ]);
  t.same(report.end(), { totals: counts(5) });
});

t.test('JSON and CSV: fields and columns as documented, CRLF, totals last', async (t) => {
  const rows = [
    row('k1', '2026-01-01', { plan: 'pro' }),
    row('k1', '2026-01-02'),
    row('k2', '2026-01-01', { operation: 'p' }),
  ];
  t.equal(
    await written('csv', { by: ['plan'] }, rows),
    'plan,requests,units,returned,limited,banned,failed\r\n' +
      'free,2,10,0,4,6,8\r\npro,1,5,0,2,3,4\r\ntotal,3,15,0,6,9,12\r\n',
  );
  t.equal(
    await written('csv', { by: ['operation', 'day'] }, rows),
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
    await written('csv', {}),
    'key,name,day,requests,units,returned,limited,banned,failed,final,without\r\ntotal,,,0,0,0,0,0,0,false,\r\n',
  );
  t.equal(
    await written('json', { by: ['plan'] }, rows),
    '{"from":"2026-01-01","to":"2026-01-02","by":["plan"],"final":false,"waitingFor":[],"without":[],"rows":[' +
      '{"plan":"free","requests":2,"units":10,"returned":0,"limited":4,"banned":6,"failed":8},\n' +
      '{"plan":"pro","requests":1,"units":5,"returned":0,"limited":2,"banned":3,"failed":4}],' +
      '"totals":{"requests":3,"units":15,"returned":0,"limited":6,"banned":9,"failed":12}}\n',
  );
  const days = ['2026-01-01 free', '2026-01-01 pro', '2026-01-02 free'].map((each) => {
    const [day, plan] = each.split(' ');
    return { day, plan, ...counts() };
  });
  t.match(JSON.parse(await written('json', { by: ['key'], days: true }, rows)), { rows: { length: 2 }, days });
});

t.test('the head goes out with the first answer of the store, the rest in few pieces', async (t) => {
  const KEYS = 10_000;
  const batches = Array.from({ length: KEYS }, (_, n) => [row(`ü${n}`, '2026-01-01')]);
  const usage = { rows: () => ledger(...batches) };
  const pieces = await Readable.from(writeReport('csv', { ...RANGE, by: ['key'] }, usage)).toArray();
  t.equal(pieces[0], 'key,name,requests,units,returned,limited,banned,failed\r\n');
  t.ok(pieces.length < 8, `${pieces.length} pieces`);
  const lines = pieces.join('').split('\r\n');
  t.same([lines.length, lines.at(-3)], [KEYS + 3, `ü${KEYS - 1},,1,5,0,2,3,4`]);
});

t.test('another process reads the rows that one writes, wherever pieces are cut', async (t) => {
  const rows = ['k', 'ü', '日本'].map((key) => row(key, '2026-01-01'));
  const bytes = Buffer.from(await written('rows', { by: ['key'] }, rows));
  const inPieces = (end: number) => Readable.from(Array.from(bytes.subarray(0, end), (byte) => Buffer.from([byte])));
  const report = reportIn(inPieces(bytes.length));
  const found = (await Readable.from(report.rows).toArray()).flat();
  t.match(
    found,
    rows.map(({ key }) => ({ key, ...counts() })),
  );
  t.same(report.end(), { totals: counts(3) });
  await t.rejects(Readable.from(reportIn(inPieces(bytes.length - 1)).rows).toArray(), /incomplete/);
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
  const csv = (by: ReportRange['by'], more: Partial<ReportRange> = {}): Promise<string> =>
    written('csv', { by, ...more }, rows, known);
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
  const rows = all.map(({ id: key }) => ({ key, name: '', ...counts() }));
  const named = await withNames(rows, accounts(all, [], asked));
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
  const csv = await written('csv', byDay, rows);
  t.same(
    csv.split('\r\n').map((line) => line.split(',').slice(-2).join(' ')),
    ['final without', 'true a b', 'false ', 'false a b', ''],
  );
  const json = JSON.parse(await written('json', byDay, rows)) as {
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
