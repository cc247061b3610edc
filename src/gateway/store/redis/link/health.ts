import { Bag } from '../../../../shared/bag.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { StoreClock } from './clock.js';
import type { LoopClock } from './loop-clock.js';

/** A node that was silent for this long gets no calls until it responds again. */
const HOLD_AFTER_MS = 50;
const PROBE_EVERY_MS = 20;
/** Interval between probes of an unavailable node. */
const PROBE_UNAVAILABLE_EVERY_MS = 100;

/** Why a node that was never reached is unavailable. */
export const NOT_YET = 'not connected yet';

/** There was no response in time; the call may have been executed, and its response may still arrive. */
export class Overdue extends Error {
  override readonly name = 'Overdue';
  readonly call: Promise<unknown>;

  constructor(call: Promise<unknown>) {
    super();
    this.call = call;
  }
}

interface TimedCall {
  /** By the loop's clock, here and below. */
  readonly untilMs: number;
  readonly giveUp: () => void;
}
/** A call that waits to be sent. */
interface HeldCall {
  readonly untilMs: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface HealthParts {
  readonly clock: LoopClock;
  /** Deadline of a call, and how long a node may be silent. */
  readonly deadlineMs: number;
  /** Proves that the node decides; has a deadline. */
  readonly probe: (health: NodeHealth) => Promise<unknown>;
  /** Called with why the node is unavailable, and with null once it responds. */
  readonly changed: (reason: string | null) => void;
}

/**
 * The health of one Redis node; only this class decides it. The node is
 * - answering: calls are sent;
 * - silent: no valid response came for a while. Calls wait unsent, because it may be only a stall;
 * - away: it was silent for as long as the deadline. Calls are refused immediately.
 * A successful probe makes it answering. It begins silent.
 */
export class NodeHealth {
  /** The node's clock, as far as its responses show. */
  storeClock = new StoreClock();
  /** Whether it ever responded. */
  wasReached = false;
  /** Why it is not trusted; null while it is. */
  distrust: string | null = null;
  readonly #parts: HealthParts;
  readonly #sent = new Bag<TimedCall>();
  #held: HeldCall[] = [];
  #state: 'answering' | 'silent' | 'away' | 'closed' = 'silent';
  #reason = NOT_YET;
  /** Time of the last valid response, or of the first call after it. */
  #silentSinceMs: number;
  /** The last known clock; after a loss of the connection, another node may have taken the node's place. */
  #lastClock = this.storeClock;
  #isProbing = false;
  /** Ends the pause between two probes. */
  #pause: NodeJS.Timeout | undefined;

  constructor(parts: HealthParts) {
    this.#parts = parts;
    this.#silentSinceMs = parts.clock.nowMs;
    parts.clock.start();
    // Deferred until the prober can find this node.
    queueMicrotask(() => void this.#probe());
  }

  /** What its clock shows at `ourMs`, or would show if it had not changed since the connection was lost. */
  storeMs(ourMs: number): number | undefined {
    return this.storeClock.at(ourMs) ?? this.#lastClock.at(ourMs);
  }

  get answers(): boolean {
    return this.#state === 'answering';
  }

  /** Why it is unavailable; null while it is not. */
  get unavailable(): string | null {
    return this.#state === 'away' ? this.#reason : null;
  }

  /** Marks the node as not trusted, though it responds: it is unavailable immediately, until a probe succeeds. */
  distrusted(reason: string): void {
    if (this.#state === 'closed') return;
    const isNew = this.#state !== 'away' || this.distrust === null;
    this.distrust = this.#reason = reason;
    if (!isNew) return;
    this.#leave();
    this.#parts.clock.start();
    void this.#probe();
  }

  /** Waits until the node responds, until `untilMs` at most. Rejects with StoreUnavailable, having sent nothing. */
  ready(untilMs: number): Promise<void> {
    if (this.#state === 'answering') return Promise.resolve();
    if (this.#state !== 'silent') return Promise.reject(this.#refusal());
    return new Promise((resolve, reject) => this.#held.push({ untilMs, resolve, reject }));
  }

  /**
   * Returns the response to a call that was just sent. Rejects with Overdue after `untilMs`; the call itself cannot be
   * taken back.
   */
  sent<T>(call: Promise<T>, untilMs: number): Promise<T> {
    if (this.#sent.size === 0 && this.#state === 'answering') {
      this.#silentSinceMs = this.#parts.clock.nowMs;
      this.#parts.clock.start();
    }
    return new Promise<T>((resolve, reject) => {
      let isOver = false;
      const ended = (): void => {
        if (!isOver) this.#sent.remove(index);
        isOver = true;
      };
      const giveUp = (): void => {
        ended();
        reject(new Overdue(call));
      };
      const index = this.#sent.add({ untilMs, giveUp });
      call.then(resolve, reject).finally(ended);
    });
  }

  /** Notes a valid response that came in time. */
  answered(): void {
    this.#silentSinceMs = this.#parts.clock.nowMs;
    if (this.#state === 'silent' && this.storeClock.at(0) !== undefined) this.#back();
  }

  /** Notes that the node cannot serve or be reached. @param isLost whether its connection is lost */
  failed(reason: string, isLost: boolean): void {
    if (this.#state === 'closed') return;
    this.#reason = reason;
    // Another node with another clock may take its place.
    if (isLost) {
      if (this.storeClock.at(0) !== undefined) this.#lastClock = this.storeClock;
      this.storeClock = new StoreClock();
    }
    if (this.#state === 'answering') this.#doubt(this.#parts.clock.nowMs);
  }

  /** Applies the time that has passed. Returns whether there is anything left to wait for. */
  tick(): boolean {
    const {
      clock: { nowMs },
      deadlineMs,
    } = this.#parts;
    const silentMs = nowMs - this.#silentSinceMs;
    if (this.#state === 'answering' && this.#sent.size > 0 && silentMs > HOLD_AFTER_MS) {
      this.#reason = 'Redis did not respond in time';
      this.#doubt(this.#silentSinceMs);
    }
    if (this.#state === 'silent' && silentMs >= deadlineMs) this.#leave();
    for (const { untilMs, giveUp } of this.#sent.items()) if (untilMs <= nowMs) giveUp();
    this.#refuseHeld(nowMs);
    return this.#state !== 'answering' || this.#sent.size > 0;
  }

  close(): void {
    this.#state = 'closed';
    this.#reason = 'the engine is closed';
    clearTimeout(this.#pause);
    this.#refuseHeld(Infinity);
  }

  #doubt(sinceMs: number): void {
    this.#state = 'silent';
    this.#silentSinceMs = sinceMs;
    this.#parts.clock.start();
    void this.#probe();
  }

  #leave(): void {
    this.#state = 'away';
    this.#parts.changed(this.#reason);
    this.#refuseHeld(Infinity);
  }

  #back(): void {
    this.wasReached = true;
    const wasKnown = this.#state === 'silent';
    this.#state = 'answering';
    this.distrust = null;
    this.#silentSinceMs = this.#parts.clock.nowMs;
    if (!wasKnown) this.#parts.changed(null);
    const held = this.#held;
    this.#held = [];
    for (const { resolve } of held) resolve();
  }

  /** Refuses the held calls that are overdue. */
  #refuseHeld(nowMs: number): void {
    if (this.#held.length === 0) return;
    const over = this.#held.filter(({ untilMs }) => untilMs <= nowMs);
    this.#held = this.#held.filter(({ untilMs }) => untilMs > nowMs);
    for (const { reject } of over) reject(this.#refusal());
  }

  #refusal(): StoreUnavailable {
    return new StoreUnavailable(`the store is unavailable: ${this.#reason}`, { noEffect: true });
  }

  /** Probes until the node responds. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    while (this.#isDown()) {
      try {
        await this.#parts.probe(this);
        if (this.#isDown()) this.#back();
      } catch (error) {
        if (!this.#isDown()) break;
        this.#reason = error instanceof Error ? error.message : 'no response';
        await this.#rest();
      }
    }
    this.#isProbing = false;
  }

  #isDown(): boolean {
    return this.#state === 'silent' || this.#state === 'away';
  }

  #rest(): Promise<void> {
    const ms = this.#state === 'away' ? PROBE_UNAVAILABLE_EVERY_MS : PROBE_EVERY_MS;
    return new Promise((resolve) => (this.#pause = setTimeout(resolve, ms)));
  }
}
