import t from 'tap';
import type { Test } from 'tap';
import type { AdmissionRequest, Subject } from '../../../../src/gateway/admission/port.js';
import type { Plans } from '../../../../src/gateway/admission/plan.js';
import { KeyRegistry } from '../../../../src/gateway/accounts/keys/registry.js';
import { Rehearsal, type Outcome } from '../../../../src/gateway/usage/rehearsal/rehearsal.js';
import { LINES_DROPPED } from '../../../../src/shared/log-lines.js';
import { engineOn, tempFolder } from '../../store/embedded/fixture.js';
import { lineOf, NOON_MS, plansWith, randomOf } from './traffic.js';

/** Random traffic through a real engine; the lines of its access log in the order in which they were decided. */
async function loggedTraffic(t: Test, count: number): Promise<readonly string[]> {
  const engine = engineOn(t, tempFolder(t), { plans: plansWith() });
  const subjects = await subjectsOn(engine);
  const random = randomOf(7);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const lines: string[] = [];
  for (let nowMs = NOON_MS; lines.length < count;) {
    const requests = Array.from({ length: 1 + Math.floor(random() * 8) }, (): AdmissionRequest => {
      const subject = one(subjects);
      const [operation, cost] = one([
        ['listPets', 1],
        ['createPet', 4],
        ['getPet', 0],
      ] as const);
      return { subject, operation, scope: null, cost: subject.kind === 'address' ? Math.min(1, cost) : cost, nowMs };
    });
    const verdicts = await engine.admit(requests);
    requests.forEach((request, n) => lines.push(lineOf(request, verdicts[n]!)));
    nowMs += random() < 0.01 ? Math.floor(random() * 30_000_000) : Math.floor(random() * 1_500);
  }
  return lines;
}

async function subjectsOn(engine: ReturnType<typeof engineOn>): Promise<readonly Subject[]> {
  const registry = new KeyRegistry({
    engine,
    plans: () => plansWith(),
    scopes: [],
    costs: new Map(),
    environment: 'test',
    acceptImported: false,
  });
  const customer = await registry.customers.create({ name: 'Shop', plan: 'priced' }, 'test');
  const bodies = [
    ...['free', 'drip', 'priced'].map((plan) => ({ plan, name: plan })),
    { plan: 'enterprise', name: 'own', limits: { minute: 11, day: 'unlimited' } },
    { customer: customer.id, name: 'one' },
    { customer: customer.id, name: 'two' },
  ];
  const subjects: Subject[] = [{ kind: 'address', address: '192.0.2.1' }];
  for (const body of bodies) {
    const { record } = await registry.create(body);
    subjects.push({ kind: 'key', id: record.id, secretHash: record.secrets[0]!.hash });
  }
  return subjects;
}

/** As gateways write them: at the end of each exchange. */
function shuffled(lines: readonly string[]): readonly string[] {
  const random = randomOf(3);
  return lines
    .map((line, n) => [n + random() * 40, line] as const)
    .sort(([one], [other]) => one - other)
    .map(([, line]) => line);
}

function rehearse(plans: Plans, lines: readonly string[]): Outcome {
  const rehearsal = new Rehearsal({ plans });
  for (const line of lines) rehearsal.read(line);
  return rehearsal.end();
}

t.test('the plans of then reproduce every verdict that was logged, in whatever order lines come', async (t) => {
  const lines = await loggedTraffic(t, 12_000);
  const { different, doubtful, rehearsed, ignored, plans, refused } = rehearse(plansWith(), shuffled(lines));
  t.equal(rehearsed + ignored.free, lines.length);
  t.ok(rehearsed > 7_000);
  t.strictSame({ different, doubtful, refused }, { different: 0, doubtful: {}, refused: [] });
  for (const { plan, before, after } of plans) {
    t.strictSame(after, before, plan);
    t.ok(before.admitted > 0 && before.limited > 0, `${plan} was admitted and limited`);
  }
  t.ok(
    plans.some(({ before }) => before.banned > 0),
    'and somebody was banned',
  );
  const rest = lines.slice(6_000);
  const midway = rehearse(plansWith(), rest);
  const named = Object.values(midway.doubtful).reduce((sum, count) => sum + count, 0);
  t.equal(midway.different, named, 'a log that begins midway differs only where it says so');
});

t.test('a sample that has all refusals reproduces them, and says what it lacks', async (t) => {
  const lines = await loggedTraffic(t, 12_000);
  const random = randomOf(5);
  const sample = lines.filter((line) => !line.includes('"outcome":"admitted"') || random() < 0.5);
  const { different, rehearsed, missingUnits, plans } = rehearse(plansWith(), shuffled(sample));
  t.ok(rehearsed < lines.length * 0.75);
  t.ok(missingUnits > 500);
  t.ok(plans.every(({ before }) => before.limited > 0));
  t.equal(different, 0);
});

t.test('other limits are what a plain count of the requests says', async (t) => {
  const lines = (await loggedTraffic(t, 6_000)).filter((line) => line.includes('"plan":"free"'));
  const noBan = { after: 1_000_000, withinMs: 1_000, forMs: 1_000, factor: 1, capMs: 1_000 };
  const free = { ...plansWith({ day: 25, minute: 100_000 }).get('free')!, ban: noBan };
  const spent = new Map<string, number>();
  const expected = { admitted: 0, limited: 0, banned: 0, units: 0 };
  let refused = 0;
  for (const line of lines) {
    const { decidedAt, contractCost, outcome } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (contractCost === 0) continue;
    const day = String(decidedAt).slice(0, 10);
    const sum = (spent.get(day) ?? 0) + Number(contractCost);
    if (sum > 25) {
      expected.limited += 1;
      if (outcome === 'admitted') refused += 1;
      continue;
    }
    spent.set(day, sum);
    expected.admitted += 1;
    expected.units += Number(contractCost);
  }
  const outcome = rehearse(new Map([...plansWith(), ['free', free]]), shuffled(lines));
  t.strictSame(
    outcome.plans.map(({ after }) => after),
    [expected],
  );
  t.match(outcome.refused, [{ plan: 'free', outcome: 'limited', window: 'day', requests: refused }]);
  t.ok(refused > 0);
});

t.test('what a log does not have is named', async (t) => {
  const lines = await loggedTraffic(t, 400);
  const line = lines.find((text) => text.includes('"outcome":"admitted"') && text.includes('"contractCost":1'))!;
  const notice = JSON.stringify({ msg: LINES_DROPPED, accessLines: 17 });
  const old = JSON.stringify({ msg: 'exchange', outcome: 'admitted' });
  const undecided = JSON.stringify({ msg: 'exchange', outcome: 'none', decidedAt: null });
  const outcome = rehearse(plansWith(), [
    ...[line.replace('"msg"', '"sampled":0.5,"msg"'), line.slice(0, 90), notice, old, undecided, 'no JSON', ''],
    ...['{"msg":"serving"}', line.replace('"windows":{"minute":[', '"windows":{"minute":["x",')],
  ]);
  const { ignored, dropped, sampled, rehearsed } = outcome;
  t.match(ignored, { unreadable: 2, old: 1, undecided: 1, strange: 1, other: 1 });
  t.strictSame({ dropped, sampled, rehearsed }, { dropped: 17, sampled: true, rehearsed: 1 });
  const { plan } = JSON.parse(line) as { plan: string };
  t.match(rehearse(new Map(), [line]).missingPlans, { [plan]: 1 });
});

t.test('a notice of dropped lines without their number is a strange line, and spoils no sum', (t) => {
  const notice = (accessLines?: number): string => JSON.stringify({ msg: LINES_DROPPED, accessLines });
  const { dropped, ignored } = rehearse(plansWith(), [notice(3), notice()]);
  t.match({ dropped, ignored }, { dropped: 3, ignored: { strange: 1 } });
  t.end();
});
