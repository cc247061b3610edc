import type { UpstreamSettings } from '../config/settings.js';
import type { BodyRest } from '../exchange.js';
import { REFUSALS, type Refusal } from '../refusal.js';

/** A stream is asked so often whether it may go on, as a tunnel is. */
const RECHECK_MS = 5_000;

/** What happens to an exchange that lasts. */
export interface LastingRules {
  /** Whether its key could begin it now. */
  readonly mayGoOn: () => Promise<boolean>;
  /** Its key may not go on. */
  readonly cut: () => void;
  /** It lasted too long: no fault of the upstream. */
  readonly onTooLong: () => void;
}

/** When an answer has to be there: whole, or, of a stream, its next piece. A long body has to be sent before. */
export class Deadline {
  readonly #onOver: () => void;
  readonly #whole: NodeJS.Timeout;
  #idle: NodeJS.Timeout | null = null;
  #lifetime: NodeJS.Timeout | null = null;
  #recheck: NodeJS.Timeout | null = null;

  constructor(ms: number, onOver: () => void) {
    this.#onOver = onOver;
    this.#whole = setTimeout(onOver, ms);
  }

  /** A stream began, or a piece of it came: its longest silence counts from now on, and how long it lasts. */
  streamed({ idleMs, lifetimeMs }: UpstreamSettings, rules: LastingRules): void {
    if (this.#idle !== null) {
      this.#idle.refresh();
      return;
    }
    clearTimeout(this.#whole);
    this.#idle = setTimeout(this.#onOver, idleMs);
    this.#lasts(lifetimeMs, rules);
  }

  /** A long body is on its way. `onBroken` hears why it will not come whole, be it that it took too long. */
  sends(
    rest: BodyRest,
    { lifetimeMs }: UpstreamSettings,
    rules: LastingRules,
    onBroken: (refusal: Refusal) => void,
  ): void {
    this.#lasts(lifetimeMs, { ...rules, onTooLong: () => rest.break(REFUSALS.request_timeout) });
    rest.onOver(() => this.#sent());
    rest.watch({ onMoved: () => this.moved(), onBroken });
  }

  /** It ends after so long, whatever happens, and with its key. Both begin anew when that is said again. */
  #lasts(ms: number, { mayGoOn, cut, onTooLong }: LastingRules): void {
    this.#stopLasting();
    this.#lifetime = setTimeout(onTooLong, ms);
    this.#recheck = setInterval(() => {
      void mayGoOn().then((goesOn) => {
        if (!goesOn && this.#recheck !== null) cut();
      });
    }, RECHECK_MS);
  }

  /** A part of a long body was sent, or came: the upstream has all its time from now on. */
  moved(): void {
    (this.#idle ?? this.#whole).refresh();
  }

  /** All of a long body was sent: the rest is an exchange like any other, but where its answer is a stream. */
  #sent(): void {
    if (this.#idle === null) this.#stopLasting();
    this.moved();
  }

  clear(): void {
    clearTimeout(this.#whole);
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#stopLasting();
  }

  #stopLasting(): void {
    if (this.#lifetime !== null) clearTimeout(this.#lifetime);
    if (this.#recheck !== null) clearInterval(this.#recheck);
    this.#recheck = null;
  }
}
