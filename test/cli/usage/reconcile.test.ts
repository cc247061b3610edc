import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { Test } from 'tap';
import { LINES_DROPPED } from '../../../src/shared/log-lines.js';
import { command } from '../commands.js';
import { operator } from '../operator.js';
import type { Finished } from '../programs.js';

const DAY = new Date().toISOString().slice(0, 10);
const START = `petgate_start_time_seconds ${Date.parse(DAY) / 1000}\n`;

interface Stage {
  readonly ids: readonly string[];
  readonly folder: string;
  /** The access log that agrees with the ledger: 3 listPets of the first key, 2 createPet of the second. */
  readonly lines: readonly string[];
  readonly reconcile: (logs: readonly string[], input?: string) => Promise<Finished>;
}

async function stage(t: Test, metrics: string, [first, second] = ['listPets', 'createPet']): Promise<Stage> {
  const { engine, registry, folder, env, request } = await operator(t, { metrics: () => Promise.resolve(metrics) });
  const made = [await registry.create({ plan: 'free', name: 'A' }), await registry.create({ plan: 'pro', name: 'B' })];
  const ids = made.map(({ record }) => record.id);
  const asked = [0, 0, 0, 1, 1];
  await engine.admit(asked.map((n) => request(made[n]!.token, n === 0 ? first : second, n === 0 ? 1 : 4)));
  const lines = asked.map((n) =>
    line({
      key: ids[n],
      ...(n === 0 ? { plan: 'free', operation: first } : { plan: 'pro', operation: second, units: 4 }),
    }),
  );
  return {
    ...{ ids, folder, lines },
    reconcile: (logs, input) =>
      command(['usage', 'reconcile', '--day', DAY, '--access-log', ...logs, '--json'], env, input),
  };
}

/** A counter of three requests of plan free and two of pro. */
function countedAs(free: string, pro: string, counts = [3, 2]): string {
  const sample = (plan: string, operation: string, count?: number): string =>
    `petgate_admitted_total{plan="${plan}",operation="${operation}"} ${count}\n`;
  return START + sample('free', free, counts[0]) + sample('pro', pro, counts[1]);
}

function line(fields: object): string {
  return JSON.stringify({
    level: 'info',
    time: `${DAY}T00:00:01.000Z`,
    status: 200,
    counted: true,
    admittedAt: `${DAY}T00:00:01.000Z`,
    ...fields,
    msg: 'exchange',
  });
}

/** What a gateway says of lines that it dropped. */
function dropped(at: string, accessLines: number): string {
  return JSON.stringify({ level: 'warn', time: at, accessLines, otherLines: 2, since: at, msg: LINES_DROPPED });
}

t.test('equal: whatever operations are called, and where a counter has no series of their own', async (t) => {
  for (const [first, second, label = second] of [
    ['GET /pets/{petId}', '=a, "b\\c|d', '=a, \\"b\\\\c|d'],
    ["'=x", "o'clock, 日本"],
    ['-x', 'listPets', 'other'],
  ] as const) {
    const { lines, folder, reconcile } = await stage(t, countedAs(first, label), [first, second]);
    writeFileSync(join(folder, 'a.log'), lines.join('\n'));
    const { code, stdout } = await reconcile([join(folder, 'a.log')]);
    t.match(JSON.parse(stdout), { equal: true, differences: [], counterDifferences: [] }, stdout);
    t.equal(code, 0);
  }
});

t.test('equal: over plain, gzipped and standard input, whatever else stands in them', async (t) => {
  const { lines, folder, reconcile } = await stage(
    t,
    `${START}petgate_admitted_total{plan="free",operation="listPets"} ` +
      '3\npetgate_admitted_total{operation="createPet",plan="pro"} 2\n',
  );
  const noise = [
    'not JSON',
    '',
    '{"msg":"serving"}',
    line({ key: 'x', plan: 'free', operation: 'listPets', counted: false, admittedAt: null }),
    line({ key: 'x', plan: 'free', operation: 'listPets', admittedAt: '2020-01-01T00:00:00.000Z' }),
    JSON.stringify({ msg: 'other', text: '"counted":true' }),
  ];
  writeFileSync(join(folder, 'a.log'), [...noise, lines[0], lines[1], ''].join('\r\n').replaceAll('\r', ''));
  writeFileSync(join(folder, 'b.log.gz'), gzipSync([lines[2], ...noise, lines[3]].join('\n')));
  const { code, stdout, stderr } = await reconcile(
    [join(folder, 'a.log'), join(folder, 'b.log.gz'), '-'],
    `${lines[4]!}\n`,
  );
  t.equal(code, 0, stderr + stdout);
  t.same(JSON.parse(stdout), {
    day: DAY,
    equal: true,
    totals: { ledger: 5, accessLog: 5, counter: 5, ledgerUnits: 11, accessLogUnits: 11 },
    differences: [],
    counterDifferences: [],
    unanswered: [],
    counterLeftOut: null,
    unreadableLines: 0,
    droppedLines: 0,
  });
});

t.test(
  'every difference is named: missing in the log, doubled, of a foreign key, cut, and in the counter',
  async (t) => {
    const { ids, lines, folder, reconcile } = await stage(t, countedAs('listPets', 'createPet', [3, 1]));
    const file = join(folder, 'a.log');
    writeFileSync(
      file,
      [
        lines[0],
        lines[1],
        lines[3],
        lines[4],
        lines[4],
        line({ key: 'stranger', plan: 'free', operation: 'getPet' }),
        lines[2]!.slice(0, -20),
        dropped(`${DAY}T00:00:01.000Z`, 7),
        dropped('2020-01-01T00:00:00.000Z', 900),
      ].join('\n'),
    );
    const { code, stdout } = await reconcile([file]);
    t.equal(code, 1);
    const proof = JSON.parse(stdout) as { differences: { key: string }[]; unreadableLines: number };
    const difference = (key: string, plan: string, operation: string, requests: number[], units = requests) => ({
      ...{ key, plan, operation, ledger: requests[0], accessLog: requests[1] },
      ...{ ledgerUnits: units[0], accessLogUnits: units[1] },
    });
    const expected = [
      difference(ids[0]!, 'free', 'listPets', [3, 2]),
      difference(ids[1]!, 'pro', 'createPet', [2, 3], [8, 12]),
      difference('stranger', 'free', 'getPet', [0, 1]),
    ];
    const byKey = (rows: readonly { key?: string | undefined }[]): unknown =>
      rows.toSorted((a, b) => (String(a.key) < String(b.key) ? -1 : 1));
    t.same(byKey(proof.differences), byKey(expected));
    t.match(proof, {
      equal: false,
      totals: { ledger: 5, accessLog: 6 },
      unreadableLines: 1,
      droppedLines: 7,
      counterDifferences: [{ plan: 'pro', operation: 'createPet', ledger: 2, counter: 1 }],
    });
  },
);

t.test('what the store never answered explains as many requests of its key and operation, and is named', async (t) => {
  const { ids, lines, folder, reconcile } = await stage(t, countedAs('listPets', 'createPet', [1, 2]));
  const lost = (key: string, time = `${DAY}T00:00:01.000Z`): string =>
    line({ time, key, plan: null, operation: 'listPets', status: 503, counted: null, admittedAt: null, units: 0 });
  const [file, first] = [join(folder, 'a.log'), ids[0]!];
  const logged = [lines[0], lines[3], lines[4]];
  writeFileSync(file, [...logged, lost(first), lost(first), lost(first), lost(ids[1]!)].join('\n'));
  const proven = await reconcile([file]);
  t.equal(proven.code, 0, proven.stdout);
  t.match(JSON.parse(proven.stdout), {
    equal: true,
    differences: [],
    counterDifferences: [],
    unanswered: [{ key: first, plan: 'free', operation: 'listPets', requests: 2, units: 2 }],
  });
  writeFileSync(file, [...logged, lost(first), lost(first, '2020-01-01T00:00:00.000Z'), lost(ids[1]!)].join('\n'));
  const missing = await reconcile([file]);
  t.equal(missing.code, 1, 'one is too few');
  t.match(JSON.parse(missing.stdout), { differences: [{ key: first, ledger: 3, accessLog: 1 }], unanswered: [] });
});

t.test('a counter that can not be held against the day is told, and changes nothing', async (t) => {
  for (const [metrics, reason] of [
    ['petgate_up 1\n', 'does not report when it began'],
    [
      'petgate_start_time_seconds 1\npetgate_admitted_total{plan="free",operation="listPets"} 999\n',
      'since before the day',
    ],
    [`petgate_start_time_seconds ${Date.parse(DAY) / 1000 + 2}\n`, 'restarted during the day'],
  ] as const) {
    await t.test(reason, async (t) => {
      const { lines, folder, reconcile } = await stage(t, metrics);
      writeFileSync(join(folder, 'a.log'), lines.join('\n'));
      const { code, stdout } = await reconcile([join(folder, 'a.log')]);
      t.equal(code, 0, stdout);
      t.match((JSON.parse(stdout) as { counterLeftOut: string }).counterLeftOut, reason);
    });
  }
});

t.test('exit codes 1 and 2: a log that is none or a sample, or is named twice, and a bad day', async (t) => {
  const { folder, lines, reconcile } = await stage(t, START);
  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const file = put('a.log', lines.join('\n'));
  const sample = put('sample.log', lines.map((each) => each.replace('"msg"', '"sampled":0.1,"msg"')).join('\n'));
  for (const [logs, code, stderr] of [
    [[join(folder, 'none.log')], 1, /none\.log can't be read/],
    [[file, file], 2, /named twice/],
    [[sample], 1, /only a sample \(log\.sampled: 0\.1\)/],
    [[put('shopping.txt', 'eggs\nmilk\n')], 1, /shopping\.txt is not an access log: none of/],
  ] as const)
    t.match(await reconcile(logs), { code, stdout: '', stderr });
  t.match(await command(['usage', 'reconcile', '--day', 'monday', '--access-log', file], {}), {
    code: 2,
    stderr: /--day must be a calendar day/,
  });
});
