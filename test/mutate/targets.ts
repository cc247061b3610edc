/** Modules to mutate, and the tests that should notice: the fastest first. */
interface Target {
  readonly sources: readonly string[];
  readonly tests: readonly string[];
}

const ADMISSION = [
  ...['bucket', 'decide', 'admit', 'batch', 'plan', 'headers', 'foreseen', 'challenges'],
  ...['windows', 'greedy-headers'],
];

export const TARGETS: readonly Target[] = [
  {
    sources: ['gateway/edge/open', 'gateway/edge/credentials'],
    tests: [
      ...['open', 'credentials', 'strip', 'trace', 'client-address'].map((name) => `gateway/edge/${name}`),
      'attacks/smuggling',
      'answers/every-answer',
    ],
  },
  {
    sources: [
      'amounts/accounts',
      'amounts/bill',
      'amounts/money',
      'amounts/month',
      'amounts/payer-rows',
      'archive/stream',
    ].map((name) => `gateway/usage/${name}`),
    tests: [
      ...['bill', 'month', 'accounts', 'payer-rows', 'closed-month'].map((name) => `gateway/usage/amounts/${name}`),
      ...['gateway/usage/report', 'gateway/usage/own', 'gateway/usage/so-far'],
      ...['amounts', 'corrections', 'reports'].map((name) => `gateway/actions/usage/${name}`),
      'cli/usage/push/money',
    ],
  },
  {
    sources: [...ADMISSION, 'verdict', 'grant-expiries']
      .filter((name) => name !== 'greedy-headers')
      .map((name) => `gateway/admission/${name}`),
    tests: [
      ...ADMISSION.map((name) => `gateway/admission/${name}`),
      'conformance/embedded',
      'conformance/redis',
      'answers/every-answer',
      'conformance/lock-step',
    ],
  },
  {
    sources: ['admit', 'answers', 'call', 'codes', 'grants', 'plans'].map(
      (name) => `gateway/store/redis/admit/${name}`,
    ),
    tests: [
      'gateway/store/redis/admit/call',
      'conformance/redis',
      'gateway/store/redis/admit/admit',
      'gateway/store/redis/admit/plans',
      'gateway/store/redis/admit/summary',
      'gateway/store/redis/access',
      'gateway/store/redis/outbox/pending',
      'gateway/store/redis/link/link',
      'gateway/store/outage/early',
      'conformance/cluster',
      'faults/outage/late-answers',
    ],
  },
];

/** Mutants that change nothing anyone could notice, as `module:line: mutant`; each with its reason. */
export const EQUIVALENT: ReadonlyMap<string, string> = new Map([]);
