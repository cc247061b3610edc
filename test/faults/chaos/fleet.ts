import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../../answers/honest.js';
import { steppedClock, type SteppedClock } from '../../servers/clock.js';
import { freePort } from '../../servers/free-port.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { temporaryFolder, type Program } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import type { Upstream } from '../../servers/upstream.js';
import { openClient, type Client } from '../../e2e/client.js';
import { learnt } from '../copies.js';
import { createKey } from '../fleet.js';
import type { Holder } from './holder.js';
import { TurnedAway } from './turned-away.js';

const KEYS = 6;
const EACH = 2;
const ROOMY = { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN };
/** One key is on it, which asks for more: so that some are refused. */
export const TIGHT = { limits: { minute: 10, day: 1_000_000 }, ban: NO_BAN };
const TIGHT_EVERY_MS = 20;
export const PLANS = { roomy: ROOMY, roomier: ROOMY, tight: TIGHT, anonymous: ROOMY };
/** Answers of a request whose admission nobody knows: Redis may have counted it and not been heard. */
const UNKNOWN = new Set(['store_unavailable', 'internal_error']);
const HONEST_EVERY = 300;

export interface Seat {
  /** Kept over restarts, and when both workers are dead at once: with any free one the next would listen elsewhere. */
  readonly port: number;
  readonly clock: SteppedClock;
  /** Its clock is not the machine's, or was not a moment ago. */
  isStepped: boolean;
  /** How often it was set. */
  steps: number;
  gateway: Gateway;
  /** null while it starts again. */
  client: Client | null;
  served: number;
}

/** What a store adds to the gateways' settings and environment. */
interface StoreOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Left out: the embedded engine. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Gateways, and clients that ask them all the time and write down what they are told. */
export class Fleet {
  readonly tally = new Map<string, number>();
  readonly holders: Holder[] = [];
  readonly seats: Seat[] = [];
  readonly upstream: Upstream;
  readonly turnedAway = new TurnedAway();
  /** All that ever ran, with what they logged. */
  readonly programs: Program[] = [];
  /** Refusals of the key that asks for more than its plan has. */
  limited = 0;
  /** While it is true the store may lose what it acknowledges. */
  atRisk = false;
  readonly #t: Test;
  readonly #store: StoreOptions;
  #stopped = false;
  #isPaused = false;
  #underWay = 0;
  #askers: Promise<void>[] = [];

  constructor(t: Test, store: StoreOptions, upstream: Upstream) {
    this.#t = t;
    this.#store = store;
    this.upstream = upstream;
  }

  async open(gateways: number): Promise<void> {
    for (let n = 0; n < gateways; n += 1) {
      const port = await freePort();
      const clock = steppedClock(this.#t);
      const gateway = await this.#start(temporaryFolder(this.#t), port, clock);
      this.seats.push({
        port,
        clock,
        isStepped: false,
        steps: 0,
        gateway,
        client: openClient(this.#t, gateway.url, KEYS * EACH + 1),
        served: 0,
      });
    }
    for (let n = 0; n < KEYS; n += 1) {
      const made = await createKey(this.seats[0]!.gateway, 'roomy');
      this.holders.push({
        ...made,
        admitted: 0,
        unknown: 0,
        failed: 0,
        atRisk: 0,
        before: 0,
        unheard: 0,
        plan: 'roomy',
      });
    }
    const { key } = await createKey(this.seats[0]!.gateway, 'tight');
    this.#askers = this.seats.flatMap((seat) => [
      ...this.holders.flatMap((holder) => Array.from({ length: EACH }, () => this.#ask(seat, holder))),
      this.#askForMore(seat, key),
    ]);
    if (this.#store.environment !== undefined)
      for (const { gateway } of this.seats)
        await learnt(
          gateway,
          this.holders.map(({ id }) => id),
        );
  }

  async #start(dataFolder: string, port: number, clock: SteppedClock): Promise<Gateway> {
    const gateway = await startGateway(this.#t, {
      plans: PLANS,
      dataFolder,
      config: {
        workers: 2,
        // Half of the lines: enough to fill a pipe that nobody reads.
        log: { sampled: 0.5 },
        upstreams: { pets: { addresses: [this.upstream.url] } },
        ...this.#store.settings,
      },
      environment: { PORT: port.toString(), ...clock.environment, ...this.#store.environment },
    });
    this.programs.push(gateway.program);
    return gateway;
  }

  async restart(seat: Seat, signal: NodeJS.Signals): Promise<void> {
    await seat.gateway.program.stop(signal);
    const { client } = seat;
    seat.client = null;
    await client?.close();
    seat.gateway = await this.#start(seat.gateway.dataFolder, seat.port, seat.clock);
    seat.client = openClient(this.#t, seat.gateway.url, KEYS * EACH + 1);
  }

  async #ask(seat: Seat, holder: Holder): Promise<void> {
    while (!this.#stopped) {
      if (this.#isPaused) {
        await sleep(5);
        continue;
      }
      this.#underWay += 1;
      const kind = await this.#askOnce(seat, holder);
      this.#underWay -= 1;
      const count = (this.tally.get(kind) ?? 0) + 1;
      this.tally.set(kind, count);
      if (kind === 'refused' || kind === 'broken') await sleep(5);
    }
  }

  /** Nobody holds its answers against anything but the log. */
  async #askForMore(seat: Seat, key: string): Promise<void> {
    while (!this.#stopped) {
      const answer = this.#isPaused ? undefined : await seat.client?.send(key).catch(() => undefined);
      if (answer?.status === 429) this.limited += 1;
      await sleep(TIGHT_EVERY_MS);
    }
  }

  async #askOnce(seat: Seat, holder: Holder): Promise<string> {
    if (seat.client === null) return 'refused';
    const { isStepped } = seat;
    const { program } = seat.gateway;
    try {
      const answer = await seat.client.send(holder.key);
      const kind = answer.status < 400 ? String(answer.status) : codeOf(answer);
      if ((this.tally.get(kind) ?? 0) % HONEST_EVERY === 0 && !isStepped && !seat.isStepped)
        checkHonest(this.#t, answer, kind);
      if (UNKNOWN.has(kind)) holder.unknown += 1;
      else if (!this.turnedAway.note(kind, answer, holder, program, this.atRisk)) {
        holder.admitted += 1;
        if (this.atRisk) holder.atRisk += 1;
        if (answer.status >= 500) holder.failed += 1;
        seat.served += 1;
      }
      return kind;
    } catch (error) {
      // Nobody listened: nothing was sent.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return 'refused';
      holder.unknown += 1;
      return 'broken';
    }
  }

  /** Nobody asks until `resume`. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await until('all are answered', () => this.#underWay === 0);
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Every gateway serves. */
  async serves(): Promise<void> {
    for (const seat of this.seats) {
      const before = seat.served;
      await until('the gateway serves', () => seat.served >= before + 30);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#askers);
  }
}
