import type { UpstreamSettings } from '../config/settings.js';
import type { Operation } from '../contract/operation.js';
import type { BodyRest } from '../exchange.js';
import { REFUSALS, type Refusal, type TimeLimit } from '../refusal.js';

/** A stream is asked so often whether it may go on, as a tunnel is. */
const RECHECK_MS = 5_000;

/** The time limits of an upstream's responses, worked out once. */
interface TimeLimits {
  /** To begin a response, and then of a silence. */
  readonly deadline: TimeLimit;
  /** Of a stream's silence. */
  readonly idle: TimeLimit;
  readonly lifetime: TimeLimit;
}

export function timeLimitsOf(upstream: string, { deadlineMs, idleMs, lifetimeMs }: UpstreamSettings): TimeLimits {
  const limit = (name: TimeLimit['name'], ms: number): TimeLimit => ({
    ms,
    name,
    setting: `upstreams.${upstream}.${name}`,
  });
  return {
    deadline: limit('deadline', deadlineMs),
    idle: limit('idle', idleMs),
    lifetime: limit('lifetime', lifetimeMs),
  };
}

/** The shortest of those that hold for the head of a response. */
export function headLimit({ deadline, lifetime }: TimeLimits, { id, deadlineMs }: Operation): TimeLimit {
  const own = deadlineMs ?? Infinity;
  if (own < deadline.ms && own <= lifetime.ms)
    return { ms: own, name: 'deadline', setting: `x-petgate: { deadline } of ${id}` };
  return deadline.ms <= lifetime.ms ? deadline : lifetime;
}

/** What happens to an exchange whose time is over. */
interface DeadlineRules {
  /** The upstream was silent for so long. */
  readonly onOver: (limit: TimeLimit) => void;
  /** Whether its key could begin it now. */
  readonly mayGoOn: () => Promise<boolean>;
  /** It lasted too long, as this setting says, or its key may not go on: no fault of the upstream. */
  readonly cut: (setting: string | null) => void;
}

/** How long an upstream may be silent: before its response begins, then between any two pieces of it. */
export class Deadline {
  readonly #limits: TimeLimits;
  readonly #rules: DeadlineRules;
  #silence: NodeJS.Timeout;
  #passes = false;
  #lifetime: NodeJS.Timeout | null = null;
  #recheck: NodeJS.Timeout | null = null;

  /** @param head what holds until the response is a stream */
  constructor(limits: TimeLimits, head: TimeLimit, rules: DeadlineRules) {
    this.#limits = limits;
    this.#rules = rules;
    this.#silence = setTimeout(rules.onOver, head.ms, head);
  }

  /** The response is passed on as it comes: it may last, and a stream may be silent for longer. */
  passes(isStream: boolean): void {
    this.#passes = true;
    if (isStream) {
      clearTimeout(this.#silence);
      this.#silence = setTimeout(this.#rules.onOver, this.#limits.idle.ms, this.#limits.idle);
    }
    this.#lasts(() => this.#rules.cut(this.#limits.lifetime.setting));
  }

  /** A long body is on its way. `onBroken` hears why it will not come whole, be it that it took too long. */
  sends(rest: BodyRest, onBroken: (refusal: Refusal) => void): void {
    this.#lasts(() => rest.break(REFUSALS.request_timeout));
    rest.onOver(() => this.#sent());
    rest.watch({ onMoved: () => this.moved(), onBroken });
  }

  /** It ends after so long, whatever happens, and with its key. Both begin anew when that is said again. */
  #lasts(onTooLong: () => void): void {
    this.#stopLasting();
    const { mayGoOn, cut } = this.#rules;
    this.#lifetime = setTimeout(onTooLong, this.#limits.lifetime.ms);
    this.#recheck = setInterval(() => {
      void mayGoOn().then((goesOn) => {
        if (!goesOn && this.#recheck !== null) cut(null);
      });
    }, RECHECK_MS);
  }

  /** The upstream did something, or waits for the client: it has all its time from now on. */
  moved(): void {
    this.#silence.refresh();
  }

  /** All of a long body was sent: the rest is an exchange like any other, unless its response is on its way. */
  #sent(): void {
    if (!this.#passes) this.#stopLasting();
    this.moved();
  }

  clear(): void {
    clearTimeout(this.#silence);
    this.#stopLasting();
  }

  #stopLasting(): void {
    if (this.#lifetime !== null) clearTimeout(this.#lifetime);
    if (this.#recheck !== null) clearInterval(this.#recheck);
    this.#recheck = null;
  }
}
