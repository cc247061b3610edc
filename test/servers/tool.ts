import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Teardown } from './program.js';
import { until } from './until.js';

/**
 * Runs a server that is not ours until the test ends. Resolves when `isReady`; rejects with what it said when it ended
 * before.
 */
export async function startTool(
  t: Teardown,
  command: string,
  args: readonly string[],
  isReady: () => Promise<boolean>,
): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(`${command} is ready`, async () => child.exitCode !== null || (await isReady()));
  if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`);
}
