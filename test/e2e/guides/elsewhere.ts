/**
 * Commands of the guides that `guides.test.ts` does not run, by guide: what runs them, or why nothing can. A pattern
 * that fits no command any more is a fault.
 */
export const ELSEWHERE: Readonly<Record<string, readonly (readonly [command: RegExp, why: string])[]>> = {
  'back-up-restore-move': [[/./, 'test/faults/bills/guides.test.ts runs all of it']],
  'redis-incident': [[/./, 'test/faults/bills/guides.test.ts runs all of it']],
  'stores-and-outages': [[/./, 'test/faults/bills/guides.test.ts runs all of it']],
  'in-front-of-your-api': [[/./, 'needs a mock from npm; test/e2e/github.test.ts serves the same document']],
  'git-registries-packages': [[/./, 'npm run programs runs it, with a real git server']],
  sdks: [[/./, 'npm run clients runs it, with the real SDKs']],
  speed: [[/./, 'npm run bench takes minutes']],
  'load-balancers': [[/^aws /, 'needs an account at AWS']],
  'one-machine': [[/./, 'sets up the machine itself, as root']],
  receivers: [[/ usage push /, 'needs an account at OpenMeter; test/cli/usage/push tests it with a receiver']],
  billing: [
    [/ usage archive /, 'needs PostgreSQL; test/gateway/usage/archive tests it'],
    [/ usage reconcile /, 'needs the logs of two gateways; test/cli/usage/reconcile.test.ts tests it'],
    [/ usage push /, 'needs a meter; test/cli/usage/push tests it with a receiver'],
  ],
  troubleshooting: [
    [/./, 'needs an upstream that is silent for three seconds; test/attacks/deadlines.test.ts tests it'],
  ],
};
