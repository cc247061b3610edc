import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { ConfigError, loadSources } from '../../../src/gateway/config/load.js';
import { loadContract } from '../../../src/gateway/contract/load.js';
import { checkPrices } from '../../../src/gateway/contract/prices.js';
import type { Operation } from '../../../src/gateway/contract/operation/operation.js';

const { operations } = loadContract().routes;
/** The contract, in which adding a pet costs seven. */
const dear = operations.map((each): Operation => (each.id === 'createPet' ? { ...each, cost: 7 } : each));
const BAN = 'ban: { after: 9 }';
const ANONYMOUS = `anonymous: { limits: { minute: 3, day: 3 }, ${BAN} }`;

/** What is wrong with these plans: `line:column path: message`. */
function problemsOf(t: Test, contract: readonly Operation[], ...plans: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-prices-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'plans.yaml'), [ANONYMOUS, ...plans, ''].join('\n'));
  writeFileSync(join(folder, 'gateway.yaml'), 'plans: plans.yaml\n');
  try {
    return checkPrices(loadSources({ PETGATE_CONFIG: join(folder, 'gateway.yaml') }), contract).map(
      (warning) => `warning ${warning.replace(/^.*plans\.yaml:/, '')}`,
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
  }
}

t.test('the plans that are shipped fit the contract', (t) => {
  checkPrices(loadSources({}), operations);
  t.end();
});

t.test('an operation that can never pass is refused, on each plan, for each window, at once', (t) => {
  const problems = problemsOf(
    t,
    dear,
    `tiny: { limits: { minute: 5, day: 100, month: 6 }, ${BAN} }`,
    `own: { limits: custom, ${BAN}, operations: { createPet: { minute: 6, day: 7 } } }`,
    `cheap: { limits: { minute: 5, day: 5 }, ${BAN}, operations: { createPet: { cost: 5 } } }`,
    `dearer: { limits: { minute: 10, day: unlimited }, ${BAN}, operations: { listPets: { cost: 11, day: 10 } } }`,
  );
  t.match(problems, [
    /^2:27 tiny\.limits\.minute: on plan tiny createPet costs 7, and the minute holds 5: no request could ever pass/,
    /^2:47 tiny\.limits\.month: on plan tiny createPet costs 7, and the month holds 6/,
    /^3:78 own\.operations\.createPet\.minute: on plan own createPet costs 7, and the minute of its own holds 6/,
    /^5:\d+ dearer\.operations\.listPets\.cost: on plan dearer listPets costs 11, and the minute holds 10/,
    /^5:\d+ dearer\.operations\.listPets\.cost: on plan dearer listPets costs 11, and the day of its own holds 10/,
  ]);
  t.equal(problems.length, 5);
  t.end();
});

t.test('a public operation that no address could ever call is refused', (t) => {
  const login = dear.map((each): Operation => (each.id === 'createPet' ? { ...each, secured: false } : each));
  t.match(problemsOf(t, login), [
    /^1:\d+ anonymous\.limits\.minute: on plan anonymous createPet costs 7, and the minute holds 3/,
    /^1:\d+ anonymous\.limits\.day: on plan anonymous createPet costs 7, and the day holds 3/,
  ]);
  t.same(problemsOf(t, dear), [], 'others are not for addresses to pay');
  t.end();
});

t.test('operations that are free are refused, and of names that the contract lacks is warned', (t) => {
  const limits = `limits: { minute: 50, day: 500 }, ${BAN}`;
  t.match(
    problemsOf(
      t,
      operations,
      `free: { ${limits}, operations: { getOwnUsage: { cost: 2 }, unmatched: { minute: 3 } } }`,
    ),
    [/^2:\d+ free\.operations\.getOwnUsage: the contract lets this operation pass for nothing/],
  );
  const [warning, ...others] = problemsOf(
    t,
    operations,
    `free: { ${limits}, operations: { createPets: { minute: 1 } } }`,
  );
  t.match(warning, /^warning 2:\d+: free\.operations\.createPets: the contract has no operation of this name;/);
  t.match(warning, /; did you mean "createPet"\?/);
  t.strictSame(others, []);
  t.end();
});
