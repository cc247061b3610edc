import type { UpstreamSettings } from '../config/schema/upstream.js';
import type { Operation } from '../contract/operation/operation.js';
import type { BodyRest } from '../exchange.js';
import { REFUSALS, type Refusal, type TimeLimit } from '../refusal.js';

/** Interval at which the key of a stream is checked again, as for tunnels. */
const RECHECK_MS = 5_000;

/** The time limits of an upstream's responses, built once. */
interface TimeLimits {
  /** Until the response begins, and then between pieces. */
  readonly deadline: TimeLimit;
  /** Between pieces of a stream. */
  readonly idle: TimeLimit;
  readonly lifetime: TimeLimit;
}

export function timeLimitsOf(upstream: string, settings: UpstreamSettings): TimeLimits {
  const limit = (name: TimeLimit['name']): TimeLimit => {
    return { ms: settings[name], name, setting: `upstreams.${upstream}.${name}` };
  };
  return { deadline: limit('deadline'), idle: limit('idle'), lifetime: limit('lifetime') };
}

/** The shortest limit for the head of a response. */
export function headLimit({ deadline, lifetime }: TimeLimits, { id, deadlineMs }: Operation): TimeLimit {
  const own = deadlineMs ?? Infinity;
  if (own < deadline.ms && own <= lifetime.ms)
    return { ms: own, name: 'deadline', setting: `x-petgate: { deadline } of ${id}` };
  return deadline.ms <= lifetime.ms ? deadline : lifetime;
}

/** Called when the time of an exchange is over. */
interface DeadlineRules {
  /** The upstream was silent for too long. */
  readonly onOver: (limit: TimeLimit) => void;
  /** Whether its key is still allowed. */
  readonly stillAllowed: () => Promise<boolean>;
  /** It exceeded the limit of this setting, or its key is no longer allowed: not the upstream's fault. */
  readonly cut: (setting: string | null) => void;
}

/** Limits the silence of an upstream: before its response begins, then between any two pieces. */
export class Deadline {
  readonly #limits: TimeLimits;
  readonly #rules: DeadlineRules;
  #silence: NodeJS.Timeout;
  #passes = false;
  #lifetime: NodeJS.Timeout | null = null;
  #recheck: NodeJS.Timeout | null = null;

  /** @param head limit until the response turns out to be a stream */
  constructor(limits: TimeLimits, head: TimeLimit, rules: DeadlineRules) {
    this.#limits = limits;
    this.#rules = rules;
    this.#silence = setTimeout(rules.onOver, head.ms, head);
  }

  /** The response is forwarded as it arrives: it may take longer, and a stream may be silent for longer. */
  passes(isStream: boolean): void {
    this.#passes = true;
    if (isStream) {
      clearTimeout(this.#silence);
      this.#silence = setTimeout(this.#rules.onOver, this.#limits.idle.ms, this.#limits.idle);
    }
    this.#lasts(() => this.#rules.cut(this.#limits.lifetime.setting));
  }

  /** A long body is being sent. `onBroken` gets the reason if it will not be complete, including a timeout. */
  sends(rest: BodyRest, onBroken: (refusal: Refusal) => void): void {
    this.#lasts(() => rest.break(REFUSALS.request_timeout));
    rest.onOver(() => this.#sent());
    rest.watch({ onMoved: () => this.moved(), onBroken });
  }

  /** Limits the total time, and checks the key repeatedly. Another call restarts both. */
  #lasts(onTooLong: () => void): void {
    this.#stopLasting();
    const { stillAllowed, cut } = this.#rules;
    this.#lifetime = setTimeout(onTooLong, this.#limits.lifetime.ms);
    this.#recheck = setInterval(() => {
      void stillAllowed().then((isAllowed) => {
        if (!isAllowed && this.#recheck !== null) cut(null);
      });
    }, RECHECK_MS);
  }

  /** The upstream was active, or waits for the client: restarts its time. */
  moved(): void {
    this.#silence.refresh();
  }

  /** A long body was sent completely: continues like any exchange, unless its response is arriving already. */
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
