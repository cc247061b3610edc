import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Gateway } from '../../servers/gateway.js';
import { childrenOf } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import { figure } from '../fleet.js';
import { PLANS, type Fleet, type Seat } from './fleet.js';
import type { Holder } from './holder.js';
import { pick, type Random } from './random.js';

/** Something that happens to a fleet. Afterwards every gateway has to serve again. */
export type Event = (fleet: Fleet, random: Random) => Promise<void>;
export type Events = Readonly<Record<string, Event>>;

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Requests whose lines are more than a pipe holds. */
const UNREAD = 1_000;
/** Longer than it takes all processes to see a step, and the requests under way to be answered. */
const SEEN_MS = 150;
/** Longer than from one sweep of the embedded store to the next. */
const SWEEP_MS = 11_000;

/** Changes the plan, and notes what is certain of it. */
async function changePlan({ admin }: Gateway, holder: Holder, plan: string): Promise<void> {
  holder.plan = null;
  const { status } = await admin('PATCH', `/admin/v1/keys/${holder.id}`, { plan });
  if (status === 200) holder.plan = plan;
}

/** A key has three secrets at most: after two rotations that nobody heard of, a third ends the one in use. */
const MAX_UNHEARD = 2;

async function rotate({ admin }: Gateway, holder: Holder, fleet: Fleet): Promise<void> {
  const endsInUse = holder.unheard >= MAX_UNHEARD;
  // Where it may be lost as well, its holder would be left without any.
  if (endsInUse && fleet.atRisk) return;
  if (endsInUse) await fleet.pause();
  const { status, body } = await admin('POST', `/admin/v1/keys/${holder.id}/rotate`, {});
  if (status < 300) holder.key = (body as { key: string }).key;
  holder.unheard = status < 300 ? 0 : holder.unheard + 1;
  if (endsInUse) fleet.resume();
}

/** The clock of a gateway is set so far from the machine's while each piece of work lasts. */
export async function stepped(
  seat: Seat,
  steps: readonly (readonly [byMs: number, work: () => Promise<unknown>])[],
): Promise<void> {
  seat.isStepped = true;
  seat.steps += steps.length;
  for (const [byMs, work] of steps) {
    seat.clock.step(byMs);
    await sleep(SEEN_MS);
    await work();
  }
  seat.clock.step(0);
  await sleep(SEEN_MS);
  seat.isStepped = false;
}

/** The clock of one gateway is another for a moment, or for so long. */
function step(
  { seats }: Fleet,
  random: Random,
  steps: readonly number[],
  lastsMs = (): number => random() * 1_000,
): Promise<void> {
  return stepped(
    pick(seats, random),
    steps.map((byMs) => [byMs, () => sleep(lastsMs())]),
  );
}

/** Has a gateway read these plans, and waits until it says of them what it must. */
async function readPlans(gateway: Gateway, plans: Readonly<Record<string, unknown>>, isGood: boolean): Promise<void> {
  writeFileSync(join(gateway.dataFolder, 'config/plans.yaml'), stringify(plans, { aliasDuplicateObjects: false }));
  process.kill(gateway.program.pid, 'SIGHUP');
  await until('the plans are read', async () => (await figure(gateway, 'petgate_config_ok')) === Number(isGood));
}

/** With any store. */
export const EVENTS: Events = {
  'a worker is killed': ({ seats }, random) => {
    const pids = childrenOf(pick(seats, random).gateway.program.pid);
    if (pids.length > 0) process.kill(pick(pids, random), 'SIGKILL');
    return Promise.resolve();
  },
  'a worker stands still': async ({ seats }, random) => {
    const pids = childrenOf(pick(seats, random).gateway.program.pid);
    if (pids.length === 0) return;
    const pid = pick(pids, random);
    process.kill(pid, 'SIGSTOP');
    await sleep(50 + random() * 850);
    process.kill(pid, 'SIGCONT');
  },
  'a gateway is killed': (fleet, random) => fleet.restart(pick(fleet.seats, random), 'SIGKILL'),
  'a gateway is told to end': (fleet, random) => fleet.restart(pick(fleet.seats, random), 'SIGTERM'),
  'the settings are read again': ({ seats }, random) => {
    process.kill(pick(seats, random).gateway.program.pid, 'SIGHUP');
    return Promise.resolve();
  },
  'a key changes its plan': ({ seats, holders }, random) =>
    changePlan(pick(seats, random).gateway, pick(holders, random), random() < 0.5 ? 'roomy' : 'roomier'),
  'a key is rotated': (fleet, random) => rotate(pick(fleet.seats, random).gateway, pick(fleet.holders, random), fleet),
  'a report is asked for': async ({ seats }, random) => {
    await pick(seats, random).gateway.admin('GET', '/admin/v1/usage?by=key,plan,day');
  },
  'the plans are edited': async ({ seats }, random) => {
    const { gateway } = pick(seats, random);
    const { anonymous, roomy } = PLANS;
    // What all keys are on is gone: refused. Then another plan beside them, and at last those of the beginning.
    await readPlans(gateway, { anonymous, other: roomy }, false);
    await sleep(random() * 300);
    await readPlans(gateway, { ...PLANS, other: roomy }, true);
    await readPlans(gateway, PLANS, true);
  },
  'nobody reads the log': async ({ seats }, random) => {
    const seat = pick(seats, random);
    const { stdout } = seat.gateway.program.child;
    stdout!.pause();
    const before = seat.served;
    await until('it serves all the same', () => seat.served >= before + UNREAD, 60_000);
    stdout!.resume();
  },
  'the clock of a gateway steps': (fleet, random) => step(fleet, random, [Math.round((random() * 6 - 3) * HOUR_MS)]),
  // A day of the ledger that is long past, and a clock by which it is to be forgotten.
  'the clock of a gateway is 10 days behind, and 41 ahead': (fleet, random) =>
    step(fleet, random, [-10 * DAY_MS, 41 * DAY_MS]),
  'the upstream breaks off': async ({ upstream }) => {
    const well = upstream.handle;
    upstream.handle = (seen, response) => {
      // Not the seed's: how often it is asked is nobody's to decide.
      if (Math.random() < 0.3) response.destroy();
      else if (Math.random() < 0.3)
        response
          .writeHead(500, { 'content-type': 'application/json' })
          .end('{"code":"internal_error_of_pets","message":"The upstream has a fault.","status":500}');
      else well(seen, response);
    };
    await sleep(300);
    upstream.handle = well;
  },
};

/** With a store that forgets by the gateway's clock. */
export const OWN_CLOCK: Events = {
  // The day that is long past is one that nobody counts on any more: nothing would bring it back.
  'the clock is 10 days behind, and 41 ahead until all is swept': async (fleet, random) => {
    await step(fleet, random, [-10 * DAY_MS]);
    await step(fleet, random, [41 * DAY_MS], () => SWEEP_MS);
  },
};
