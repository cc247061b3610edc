import type { Test } from 'tap';
import { dataFolder, petgate, surroundings, type Finished } from '../../cli/programs.js';
import { startReceiver, type Received, type Receiver } from '../../cli/usage/push/receiver.js';
import { ADMIN_TOKEN } from '../../servers/gateway.js';
import { until } from '../../servers/until.js';
import { cutOff, type Counted, type Stage } from './final-stage.js';
import { figure } from '../fleet.js';
import { day } from '../../e2e/ledger.js';

interface Row {
  readonly key: string;
  readonly operation: string;
  readonly requests: number;
}

interface Report {
  readonly final: boolean;
  readonly without: readonly unknown[];
  readonly rows: readonly Row[];
  readonly totals: { readonly requests: number };
}

export async function reportOf({ near, overMs }: Stage): Promise<Report> {
  return (await near.admin('GET', `/admin/v1/usage?from=${day(overMs)}&to=${day(overMs)}&by=key,day,operation`))
    .body as Report;
}

/** What a meter adds up that takes each event once, and the ledger: by key and operation. */
export function sameSums(t: Test, events: Iterable<Received>, { rows }: Report, what: string): void {
  const sums = new Map<string, number>();
  for (const { subject, data } of events) {
    const group = `${subject} ${String(data['operation'])}`;
    sums.set(group, (sums.get(group) ?? 0) + Number(data['requests']));
  }
  t.same([...sums].sort(), rows.map(({ key, operation, requests }) => [`${key} ${operation}`, requests]).sort(), what);
}

interface Push {
  readonly receiver: Receiver;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly run: (...more: string[]) => Promise<{ readonly events: number; readonly corrected: readonly string[] }>;
}

export async function pushFrom(t: Test, { near }: Stage, ...more: readonly string[]): Promise<Push> {
  const receiver = await startReceiver(t);
  const env = surroundings(dataFolder(t), {
    ADMIN_PORT: new URL(near.adminUrl).port,
    PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  const args = ['usage', 'push', '--to', receiver.url, '--by', 'operation', '--json', ...more];
  const run: Push['run'] = async (...options) => {
    const { code, stdout, stderr }: Finished = await petgate([...args, ...options], env);
    if (code !== 0) throw new Error(`push ended with ${code}: ${stderr}`);
    return JSON.parse(stdout) as Awaited<ReturnType<Push['run']>>;
  };
  return { receiver, args, env, run };
}

/** Brings home what `counts` add; `total` is what the ledger then has of the day. */
export async function bringHome(stage: Stage, counts: readonly Counted[], total: number): Promise<void> {
  if (counts.length > 0) await cutOff(stage, counts);
  stage.proxy.set('pass');
  // Each report is a process of its own: not asked for before it can be whole.
  await until(
    'nothing waits to be told',
    async () =>
      (await figure(stage.cut, 'petgate_store_degraded')) === 0 &&
      (await figure(stage.cut, 'petgate_spool_requests')) === 0,
  );
  await until(`the ledger has ${total}`, async () => {
    const { final, totals } = await reportOf(stage);
    return final && totals.requests === total;
  });
}
