import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { packageRoot } from '../../src/shared/package-root.js';

/** What figures hold for. */
export interface Machine {
  readonly date: string;
  readonly node: string;
  readonly processors: string;
  /** Congestion control of TCP: reno, cubic, bbr. */
  readonly congestion: string;
  /** `unknown` outside a clone. */
  readonly commit: string;
}

export function machineOf(): Machine {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty'], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    processors: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    congestion: congestionControl(),
    commit: status === 0 ? stdout.trim() : 'unknown',
  };
}

function congestionControl(): string {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
