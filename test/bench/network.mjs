import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/**
 * Linux has one congestion control for all, and BBR paces even what never leaves the machine: after an idle while an
 * answer of 64 KiB came in eight pieces instead of one, for whoever keeps connections open. Reno sends at once.
 */
const SET_UP = 'ip link set lo up && echo reno > /proc/sys/net/ipv4/tcp_congestion_control';

/**
 * Runs a program of Node in a network of its own, where this user may make one, and as it is elsewhere. Gives its exit
 * code.
 */
export async function runInOwnNetwork(program, args) {
  const command = [process.execPath, program, ...args];
  const isAllowed = spawnSync('unshare', ['--net', 'sh', '-c', SET_UP], { stdio: 'ignore' }).status === 0;
  const [first, ...rest] = isAllowed
    ? ['unshare', '--net', 'sh', '-c', `${SET_UP} && exec "$@"`, 'sh', ...command]
    : command;
  const child = spawn(first, rest, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return code ?? 1;
}
