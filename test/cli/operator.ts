import type { Test } from 'tap';
import { requestWith } from '../gateway/accounts/store.js';
import { ADMIN_TOKEN, listen } from '../gateway/admin/listener.js';
import { command } from './commands.js';
import { dataFolder, surroundings, type Finished } from './programs.js';

/** The command line against a real admin listener in this process, with a data folder of its own. */
export async function operator(
  t: Test,
  more: Parameters<typeof listen>[1] = {},
  rules: Parameters<typeof listen>[2] = {},
) {
  const listener = await listen(t, more, rules);
  const folder = dataFolder(t);
  const env = surroundings(folder, { ADMIN_PORT: String(listener.port), PETGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  const run = (...args: readonly string[]): Promise<Finished> => command(args, env);
  return {
    ...{ ...listener, folder, env, run },
    /** The same with `--json`; what it prints. */
    json: async (...args: readonly string[]) =>
      JSON.parse((await run(...args, '--json')).stdout) as Readonly<Record<string, unknown>>,
    /** A request with a key of the registry: its operation, cost and time. */
    request: (token: string, operation = 'listPets', cost = 1, nowMs = Date.now()) =>
      requestWith(token, { operation, cost, nowMs }),
  };
}
