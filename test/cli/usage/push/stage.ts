import type { Test } from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import { command } from '../../commands.js';
import { operator } from '../../operator.js';
import type { Finished } from '../../programs.js';
import { startReceiver, type Received, type Receiver } from './receiver.js';

export const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
export const dayBack = (days: number): string => new Date(TODAY_MS - days * DAY_MS).toISOString().slice(0, 10);

/** A ledger with keys in it, a receiver, and the command between them. */
interface Stage {
  readonly receiver: Receiver;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly args: readonly string[];
  readonly push: (...more: string[]) => Promise<Finished>;
  /** Every key asks `times` times, and once for another operation, so many days back. */
  readonly use: (daysBack: number, times: (place: number) => number) => Promise<void>;
  readonly ledger: (from: string, to: string) => Promise<readonly UsageRow[]>;
}

export async function stage(t: Test, keyCount: number, args: readonly string[] = []): Promise<Stage> {
  const { engine, registry, folder, request, ...from } = await operator(t);
  const receiver = await startReceiver(t);
  const tokens = await Promise.all(
    Array.from({ length: keyCount }, (_, n) => registry.create({ plan: n % 3 === 0 ? 'pro' : 'free', name: `k${n}` })),
  );
  const env = { ...from.env, PETGATE_PUSH_TOKEN: 'push-secret' };
  const all = ['usage', 'push', '--to', receiver.url, '--json', ...args];
  return {
    receiver,
    env,
    folder,
    args: all,
    push: (...more) => command([...all, ...more], env),
    use: async (daysBack, times) => {
      const nowMs = Math.min(TODAY_MS - daysBack * DAY_MS + DAY_MS / 2, Date.now());
      await engine.admit(
        tokens.flatMap(({ token }, place) =>
          [...Array.from({ length: times(place) }, () => 'listPets'), 'createPet'].map((operation) =>
            request(token, operation, 1, nowMs),
          ),
        ),
      );
    },
    ledger: async (from, to) => {
      const rows: UsageRow[] = [];
      for await (const batch of engine.usage.rows(from, to)) rows.push(...batch);
      return rows;
    },
  };
}

const nameOf = (
  key: string | number | undefined,
  { day, plan, operation }: Readonly<Record<string, unknown>>,
): string => [key, day, plan, operation].join(' ');

/** Events and ledger say the same, group by group. */
export function same(t: Test, events: Iterable<Received>, rows: readonly UsageRow[], what: string): void {
  const received = new Map([...events].map(({ subject, data }) => [nameOf(subject, data), Number(data['requests'])]));
  const expected = new Map(rows.map((row) => [nameOf(row.key, { ...row }), row.requests]));
  t.same([...received].sort(), [...expected].sort(), what);
}
