/** Files that run as a process of their own instead of being imported: what they import counts as loaded. */
export const PROGRAMS: readonly string[] = [
  'src/bootstrap.mjs',
  'src/cli/main.ts',
  'src/gateway/main.ts',
  'src/pets/main.ts',
  'src/gateway/usage/tasks/task-process.ts',
  'src/gateway/actions/input/plans-thread.ts',
  'src/gateway/contract/reader-thread.ts',
  // `npm run lint` runs it.
  'src/bootstrap/regexes.mjs',
  // Run by hand after a change of the settings, or of the contract.
  'src/gateway/config/schema/write.ts',
  'src/gateway/contract/write.ts',
];

/** Folders of src without tests in the same folder of test, and where theirs are. */
export const TESTED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['src/bootstrap', 'test/cli/bootstrap.test.ts'],
  ['src/cli/admin', 'test/cli/main.test.ts, which runs commands against a gateway'],
  ['src/cli/terminal', 'test/cli/main.test.ts, which reads what commands print'],
  ['src/gateway/actions', 'test/gateway/actions/table/actions.test.ts, which runs every action'],
  [
    'src/gateway/store/embedded/records',
    'test/conformance/keys.ts and test/gateway/accounts, which run on this engine',
  ],
  ['src/gateway/store/embedded/outbox', 'test/conformance/outbox.ts'],
  ['src/gateway/store/embedded/ledger', 'test/conformance/ledger.ts'],
  ['src/gateway/store/outbox', 'test/conformance/outbox.ts'],
  ['src/gateway/console/accounts', 'test/gateway/console/keys and customers, whose pages have these parts'],
  ['src/gateway/holder/overview', 'test/gateway/holder/overview.test.ts, which renders all of it'],
  ['src/gateway/usage/grouping', 'test/gateway/usage/report.test.ts'],
]);
