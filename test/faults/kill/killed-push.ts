import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { begin } from '../../cli/programs.js';
import { until } from '../../servers/until.js';

/**
 * Starts `petgate usage push` and kills it with -9: before its first batch, or after one to three, somewhere on the
 * way. False: it ended by itself before.
 */
export async function killPush(
  t: Test,
  {
    receiver,
    args,
    env,
  }: {
    readonly receiver: { readonly requests: readonly unknown[] };
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
  },
): Promise<boolean> {
  const before = receiver.requests.length;
  const running = begin(t, [...args], env);
  const after = Math.floor(Math.random() * 4);
  let isOver = false;
  void running.ended.then(() => (isOver = true));
  await until('some batches were sent', () => receiver.requests.length >= before + after || isOver);
  await pause(after === 0 ? Math.random() * 600 : Math.random() * 8);
  running.child.kill('SIGKILL');
  return (await running.ended) === 'SIGKILL';
}
