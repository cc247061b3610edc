import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { temporaryFolder } from '../servers/program.js';
import { intervalOf, quantile, ratioOf, spreadOf, type Sample } from './figures.js';
import { packageRoot } from '../../src/shared/package-root.js';
import { plotOf } from './plot.js';
import { barReports, caseReports, textOf, type ScenarioReport } from './report.js';
import { nameOf, SCENARIOS, type Scenario } from './scenarios.js';
import { bodyOf, LIST } from './traffic.js';

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));
const MACHINE = { date: '2026-01-02', node: 'v20.0.0', processors: '2 × test', congestion: 'reno', commit: 'abc<1>' };

const sample = (gatewayUs: number, storeUs: number, p99?: number): Sample => ({
  requests: 100,
  gatewayUs,
  storeUs,
  rssMiB: 50,
  ...(p99 === undefined ? {} : { latencyMs: { p50: 1, p99, p999: 9 } }),
});

const SCENARIO: Scenario = {
  name: 'list',
  title: 'A list',
  cases: (['bare', 'redis', 'nginx'] as const).map((subject) => ({ subject, variant: '', traffic: LIST })),
  bars: [
    { of: 'redis', to: 'bare', figure: 'gateway', most: 1 },
    { of: 'redis', to: 'nginx', figure: 'gateway + store', most: 0.85 },
    { of: 'redis', to: 'express', figure: 'gateway + store', most: 0.25 },
  ],
};
const SAMPLES = new Map([
  ['bare', [sample(40, 0), sample(80, 0), sample(50, 0)]],
  ['redis', [sample(50, 5), sample(80, 8), sample(75, 7)]],
  ['nginx', [sample(50, 50), sample(100, 100), sample(80, 84)]],
]);

function reportOf(): ScenarioReport {
  return {
    name: 'list',
    title: 'A list',
    rounds: 3,
    seconds: 1,
    cases: caseReports(SCENARIO, SAMPLES),
    bars: barReports(SCENARIO, SAMPLES),
    leftOut: [{ name: 'express', why: 'not installed' }],
    longestTurnsMs: { embedded: 3.25 },
  };
}

t.test('one short round runs Petgate and a bare proxy, and writes JSON and a plot', (t) => {
  const folder = temporaryFolder(t);
  const [json, svg] = [join(folder, 'result.json'), join(folder, 'plot.svg')];
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      MAIN,
      '--load',
      'node',
      '--rounds',
      '1',
      '--only',
      'bare,embedded,redis',
      '--scenario',
      'list',
      '--json',
      json,
      '--svg',
      svg,
    ],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, 'it ends well', { stderr });
  const {
    scenarios: [list],
  } = JSON.parse(readFileSync(json, 'utf8')) as { scenarios: readonly ScenarioReport[] };
  t.strictSame(
    list?.cases.map(({ name }) => name),
    ['bare', 'embedded', 'redis'],
  );
  t.strictSame(list?.leftOut, []);
  t.strictSame(Object.keys(list?.longestTurnsMs ?? {}).sort(), ['embedded', 'redis']);
  t.ok(
    Object.values(list?.longestTurnsMs ?? {}).every((ms) => ms > 0 && ms < 10_000),
    'both say how long their loops were blocked',
  );
  t.equal(list?.cases[0]?.ratios['bare']?.median, 1);
  t.ok(
    list?.cases.every(
      ({ gatewayUs, rssMiB, requestsPerRound }) => gatewayUs.median > 1 && rssMiB > 10 && requestsPerRound > 0,
    ),
    'figures are of this world',
    { list },
  );
  t.strictSame(
    list?.cases.map(({ storeUs }) => storeUs.median > 1),
    [false, false, true],
    'Redis is told apart',
  );
  t.strictSame(
    list?.bars.map(({ of, to }) => `${of} / ${to}`),
    ['embedded / bare', 'redis / bare'],
  );
  t.match(readFileSync(svg, 'utf8'), /^<svg [^]*Petgate, embedded store[^]*<\/svg>\n$/);
  t.end();
});

t.test('a build is compared with another, of Petgate alone', (t) => {
  const args = [
    '--against',
    packageRoot,
    '--pairs',
    '1',
    '--rounds',
    '1',
    '--scenario',
    'list',
    '--only',
    'bare,redis',
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
  t.equal(status, 0, 'it ends well', { stderr });
  t.match(stdout, /^list, redis: gateway \d\.\d+ \(95 %: .*\), store \d\.\d+ \(95 %: .*\) of the build before\n$/);
  t.end();
});

t.test('a median is believed between two of its values, as many as are needed', (t) => {
  t.strictSame(intervalOf([3, 1, 2, 5, 4]), { median: 3, low: 0, high: Infinity }, 'five say nothing');
  t.strictSame(intervalOf([3, 1, 2, 6, 5, 4]), { median: 3.5, low: 1, high: 6 });
  const sixteen = intervalOf(Array.from({ length: 16 }, (_, n) => n));
  t.strictSame(sixteen, { median: 7.5, low: 3, high: 12 });
  t.end();
});

t.test('wrong options are told', (t) => {
  for (const [args, said] of [
    [['--rounds', '0'], /--rounds must be a whole number from 1 to 100/],
    [['--only', 'envoy'], /--only: there is no envoy; there are bare, embedded/],
    [['--scenario', 'lists'], /--scenario: there is no lists; there are list, post/],
    [['--load', 'ab'], /--load must be wrk or node/],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
    t.equal(status, 1);
    t.match(stderr, said);
    t.match(stderr, /npm run bench -- /);
  }
  t.end();
});

t.test('every bar compares two cases of its scenario', (t) => {
  for (const { name, cases, bars } of SCENARIOS) {
    const names = cases.map(nameOf);
    t.strictSame(
      bars.flatMap(({ of, to }) => [of, to]).filter((each) => !names.includes(each)),
      [],
      name,
    );
  }
  t.end();
});

t.test('quantiles, and ratios round by round', (t) => {
  t.equal(quantile([3, 1, 2], 0.5), 2);
  t.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
  t.strictSame(spreadOf([5, 1, 2, 3, 4]), { median: 3, p25: 2, p75: 4, min: 1, max: 5 });
  const [bare = [], redis = []] = [SAMPLES.get('bare'), SAMPLES.get('redis')];
  t.equal(ratioOf(redis, bare, 'gateway').median, 1.25, 'not the ratio of the medians');
  t.equal(ratioOf([sample(1, 0, 3)], [sample(1, 0, 2)], 'p99').median, 1.5);
  t.end();
});

t.test('ratios, bars and what is left out stand in the report', (t) => {
  const report = reportOf();
  const redis = report.cases.find(({ name }) => name === 'redis');
  t.equal(redis?.ratios['bare']?.median, 1.25, 'the gateway alone beside the bare proxy');
  t.equal(redis?.ratios['nginx']?.median, 0.5, 'with the store beside a peer');
  t.strictSame(
    report.bars.map(({ of, to, met }) => [of, to, met]),
    [
      ['redis', 'bare', false],
      ['redis', 'nginx', true],
    ],
    'a bar without its other side is left out',
  );
  const text = textOf(report);
  t.match(text, /redis +75\.0 +7\.0 +82\.0 +50 +1\.25 +0\.50\n/);
  t.match(text, /NOT MET +redis \/ bare +gateway +≤ 1\.00 +1\.25 +1\.13–1\.38 +1\.00–1\.50\n/);
  t.match(text, /met +redis \/ nginx/);
  t.notMatch(text, /× fastify|p99/, 'no column without a figure');
  t.match(text, /left out: express \(not installed\)/);
  t.end();
});

t.test('the plot is well-formed and names what it shows', (t) => {
  const svg = plotOf(reportOf(), MACHINE);
  t.match(svg, /Petgate, Redis<\/text>/);
  t.match(svg, /82\.0 \(0\.50 × nginx\)/);
  t.match(svg, /abc&#60;1&#62;/, 'what comes from outside is escaped');
  t.equal(svg.match(/class="store" x=/g)?.length, 2, 'a part for Redis where there is one');
  t.equal(svg.match(/<(text|rect|style|svg)\b/g)?.length, (svg.match(/<\/(text|style|svg)>|\/>/g) ?? []).length);
  t.end();
});

t.test('a request body has the size asked for, and is JSON', (t) => {
  const body = bodyOf({ ...LIST, bodyBytes: 1024 });
  t.equal(Buffer.byteLength(body), 1024);
  t.match(JSON.parse(body), { categoryId: 7 });
  t.end();
});
