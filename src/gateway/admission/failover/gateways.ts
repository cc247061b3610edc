import type { Facts } from './facts.js';

/** A store that forgot everything knows only who has told it since: a lower count is believed after this time. */
const BELIEVED_AFTER_MS = 30_000;

/** How many gateways share each limit while Redis is away: as configured, or as last seen. */
export class Gateways {
  readonly #facts: Facts;
  readonly #configured: number | 'auto';
  #samples: { readonly atMs: number; readonly count: number }[];

  constructor(facts: Facts, configured: number | 'auto') {
    this.#facts = facts;
    this.#configured = configured;
    this.#samples = [{ atMs: performance.now(), count: this.#stored() }];
  }

  /** At least 1. As any process of the machine saw it last. */
  count(): number {
    return this.#configured === 'auto' ? this.#stored() : this.#configured;
  }

  /** Redis counted so many just now. */
  async seen(count: number): Promise<void> {
    const nowMs = performance.now();
    this.#samples = [...this.#samples.filter(({ atMs }) => nowMs - atMs < BELIEVED_AFTER_MS), { atMs: nowMs, count }];
    await this.#facts.write('gateways', Math.max(...this.#samples.map((sample) => sample.count)).toString());
  }

  #stored(): number {
    return Math.max(1, Number(this.#facts.read('gateways') ?? 1));
  }
}
