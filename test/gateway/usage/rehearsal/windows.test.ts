import t from 'tap';
import { decisionIn, type LoggedDecision } from '../../../../src/gateway/usage/rehearsal/line.js';
import { Rehearsal } from '../../../../src/gateway/usage/rehearsal/rehearsal.js';
import { admittedLine, NOON_MS, plansWith } from './traffic.js';

/** Ten ms after each other, with what is left of the minute; of a day of 60 as much less. */
function linesOf(...left: readonly number[]): readonly string[] {
  return left.map((remaining, n) => admittedLine(NOON_MS + n * 10, [9, remaining], [60, 51 + remaining]));
}

/** `outcome` of each line under a day of so many, with the doubt in it. */
function rehearse(day: number, lines: readonly string[]) {
  const outcomes: string[] = [];
  const onDecided = (_: LoggedDecision, outcome: string, doubt: string | null) =>
    void outcomes.push(doubt === null ? outcome : `${outcome} ${doubt}`);
  const rehearsal = new Rehearsal({ plans: plansWith({ day }), onDecided });
  for (const line of lines) rehearsal.read(line);
  const { missingUnits } = rehearsal.end();
  return { outcomes, missingUnits };
}

t.test('requests that a log lacks are known by what is left, and count', (t) => {
  t.strictSame(rehearse(5, linesOf(8, 7, 4, 3)), {
    outcomes: ['admitted', 'admitted', 'admitted missing', 'limited missing'],
    missingUnits: 2,
  });
  t.strictSame(rehearse(4, linesOf(8, 7, 4)).outcomes.at(-1), 'limited missing');
  t.strictSame(rehearse(5, linesOf(8, 7, 6, 5)).outcomes, Array(4).fill('admitted'), 'without a gap nothing is said');
  t.end();
});

t.test('what the store lost is lost to the rehearsal too', (t) => {
  const { outcomes, missingUnits } = rehearse(4, linesOf(8, 7, 6, 5, 8, 7));
  t.strictSame(outcomes, [...Array<string>(4).fill('admitted'), 'admitted forgotten', 'admitted forgotten']);
  t.equal(missingUnits, 0);
  t.end();
});

t.test('what a gateway decided by itself shows its share, and is not compared', (t) => {
  const [first = '', , third = ''] = linesOf(8, 7, 6);
  const local = JSON.stringify({ ...(JSON.parse(linesOf(8, 1)[1]!) as object), local: true });
  t.strictSame(rehearse(9, [first, local, third]), {
    outcomes: ['admitted', 'admitted local', 'admitted local'],
    missingUnits: 0,
  });
  t.match(decisionIn(JSON.parse(local) as Readonly<Record<string, unknown>>), { local: true });
  t.end();
});
