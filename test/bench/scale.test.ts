import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { MEASURED } from './scale/costs.js';
import { most, simulate, type Setting } from './scale/simulate.js';
import { Keys, randomOf } from './scale/traffic.js';

const MAIN = fileURLToPath(new URL('scale.js', import.meta.url));
const SETTING: Setting = {
  masters: 6,
  gateways: 12,
  keys: 1_000,
  skew: 1.1,
  seed: 7,
  requests: 4_000,
  costs: MEASURED,
};

function run(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
}

t.test('the same seed gives the same figures, and another seed others', (t) => {
  t.same(simulate(SETTING, 50_000), simulate(SETTING, 50_000));
  t.notSame(simulate({ ...SETTING, seed: 8 }, 50_000), simulate(SETTING, 50_000));
  t.end();
});

t.test('keys are drawn as often as Zipf says', (t) => {
  const random = randomOf(1);
  const keys = new Keys(100, 1, random);
  const harmonic = Array.from({ length: 100 }, (_, n) => 1 / (n + 1)).reduce((sum, part) => sum + part);
  t.equal(keys.hottestShare, 1 / harmonic);
  const drawn = Array.from({ length: 20_000 }, () => keys.draw(random));
  const share = (key: number): number => drawn.filter((each) => each === key).length / drawn.length;
  for (const place of [0, 1, 9])
    t.ok(Math.abs(share(place) * harmonic * (place + 1) - 1) < 0.15, `place ${place + 1}`, { share: share(place) });
  t.equal(new Keys(100, 0, random).hottestShare, 0.01, 'without skew all are alike');
  t.end();
});

t.test('with little traffic each request pays for a turn and a run of its own', (t) => {
  const { wakeUs, runUs, keyUs, gatewayUs, sendUs } = MEASURED;
  const quiet = simulate({ ...SETTING, masters: 1, gateways: 1 }, 50);
  const share = (us: number): number => (50 * us) / 1_000_000;
  t.ok(quiet.batch < 1.02, 'hardly any two come together');
  t.ok(Math.abs(quiet.redisBusy / share(wakeUs + runUs + keyUs) - 1) < 0.1, 'Redis', quiet);
  t.ok(Math.abs(quiet.gatewayBusy / share(gatewayUs + sendUs) - 1) < 0.1, 'the gateway', quiet);
  t.end();
});

t.test('what is at its end first: gateways, Redis, or one key', (t) => {
  const few = most({ ...SETTING, gateways: 2 }, 0.7);
  t.equal(few.wall, 'gateways');
  t.ok(
    few.perSecond > (2 * 0.6 * 1_000_000) / (MEASURED.gatewayUs + MEASURED.sendUs) &&
      few.perSecond < (2 * 1_000_000) / MEASURED.gatewayUs,
    'some 0.7 of two processors',
    few,
  );
  t.equal(most({ ...SETTING, masters: 1, gateways: 40 }, 0.7).wall, 'Redis');
  const hot = most({ ...SETTING, gateways: 60, skew: 3 }, 0.7);
  t.equal(hot.wall, 'hottest key');
  const more = most({ ...SETTING, gateways: 60, skew: 3, masters: 12 }, 0.7);
  t.ok(more.perSecond < 1.1 * hot.perSecond, 'more masters do not help one key', { hot, more });
  t.end();
});

t.test('the guide shows what the program prints', (t) => {
  const guide = readFileSync(join(packageRoot, 'docs/guides/scale.md'), 'utf8');
  const shown = [...guide.matchAll(/```text\n\$ node dist\/test\/bench\/scale\.js (.*)\n([^`]*)```/g)];
  t.ok(shown.length >= 2, 'the guide has examples');
  for (const [, args = '', output] of shown) t.equal(run(...args.split(' ')).stdout, output, args);
  t.end();
});

t.test('wrong options are told', (t) => {
  for (const [args, message] of [
    [['--masters', '0'], /--masters must be a number from 1 to 1000, not "0"/],
    [['--gateways', '1.5'], /--gateways must be a whole number/],
    [['--skew', '1,x'], /--skew must be a number from 0 to 10, not "x"/],
    [['--unknown'], /Unknown option/],
  ] as const) {
    const { status, stderr } = run(...args);
    t.equal(status, 1);
    t.match(stderr, message);
  }
  t.end();
});
