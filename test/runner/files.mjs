import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Those that take longest, the longest first: one that begins last would keep the others waiting for it alone. */
export const LONG = [
  'e2e/certificate',
  'gateway/console/console-browser',
  'gateway/console/tasks',
  'gateway/usage/archive/move',
  'gateway/actions/usage/archive',
  'e2e/customers',
  'e2e/exactness',
  'gateway/edge/websocket/tunnel',
  'gateway/edge/proxy-protocol/listener',
  'e2e/promise-four',
  'e2e/events',
  'e2e/moving',
  'e2e/moving-under-load',
  'cli/bootstrap',
  'e2e/http2',
  'pets/main',
  'gateway/usage/archive/ledger',
  'cli/main',
  'faults/bills/bills',
  'faults/bills/guides',
  'faults/store/steady-load',
  'faults/kill/events',
  'faults/store/sentinel',
  'faults/kill/customers',
  'faults/kill/holds',
  'attacks/isolation/isolation',
  'attacks/http2-slow',
  'faults/chaos/cluster',
  'faults/chaos/redis',
  'faults/chaos/embedded',
  'faults/store/resharding',
  'faults/kill/late-counts',
  'faults/outage/late-answers',
  'faults/store/freezes',
  'faults/kill/archive',
  'attacks/testssl',
  'faults/outage/late-counts',
  'faults/outage/stalls',
];

/** What kills, freezes, cuts off, floods or attacks: `npm run test:faults`. Everything else is `npm test`. */
const FAULTS = ['dist/test/attacks/', 'dist/test/faults/'];
export const isFault = (file) => FAULTS.some((folder) => file.startsWith(folder));

/** All built test files: the long ones first, then by name. */
export function testFiles() {
  const names = readdirSync('dist/test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .sort();
  const long = LONG.map((name) => `${name}.test.js`).filter((name) => names.includes(name));
  return [...new Set([...long, ...names])].map((name) => join('dist/test', name));
}

/**
 * The built test files to run.
 * @param suite `--unit`, `--faults`, or undefined for `npm test`
 * @param parts of names: only files that have one of them. Named, `npm test` also finds the files of the faults.
 */
export async function filesOf(suite, parts) {
  const isNamed = (file) => parts.length === 0 || parts.some((part) => file.includes(part));
  if (suite === '--unit') return (await unitTestFiles()).filter(isNamed);
  if (suite === '--faults') return testFiles().filter((file) => isFault(file) && isNamed(file));
  return testFiles().filter((file) => (parts.length === 0 ? !isFault(file) : isNamed(file)));
}

/** Those that start no process (test/rules/unit.ts). */
async function unitTestFiles() {
  // Only now: it is there once it was built.
  const { unitTests } = await import('../../dist/test/rules/unit.js');
  return unitTests().map((path) => join('dist', path.replace(/\.tsx?$/, '.js')));
}
