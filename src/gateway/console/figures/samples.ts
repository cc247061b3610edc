import { Sample } from './sample.js';
import type { History } from './history.js';
import { Span } from './window.js';

/** A sample is taken as often, whether somebody watches or not, so that a page has figures of a while at once. */
const EVERY_MS = 30_000;
/** And no more often than that for those who watch, however many they are. */
const LEAST_MS = 5_000;
/** What "now" means in figures. */
const NOW_MS = 60_000;
const KEPT_MS = 2 * NOW_MS;

/** The metrics of the last while. They are read, and what is made of them is made, once for all who watch. */
export class Samples {
  /** Minutes and hours before the last while. */
  readonly history: History;
  readonly #read: () => Promise<string>;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  #taking: { readonly atMs: number; readonly sample: Promise<Sample> } | null = null;
  #rendered: { readonly sample: Sample; readonly texts: Map<string, Promise<string>> } | null = null;

  constructor(read: () => Promise<string>, now: () => number, history: History) {
    this.#read = read;
    this.history = history;
    this.#now = now;
    setInterval(() => void this.latest().catch(() => undefined), EVERY_MS).unref();
  }

  latest(): Promise<Sample> {
    const nowMs = this.#now();
    if (this.#taking !== null && nowMs < this.#taking.atMs + LEAST_MS) return this.#taking.sample;
    const sample = this.#take(nowMs);
    this.#taking = { atMs: nowMs, sample };
    // The next who asks tries again.
    sample.catch(() => (this.#taking = null));
    return sample;
  }

  /** What went on in about the last minute. */
  async span(): Promise<Span> {
    const to = await this.latest();
    const from = this.#samples.findLast(({ atMs }) => atMs <= to.atMs - NOW_MS) ?? this.#samples[0] ?? to;
    return new Span(from, to);
  }

  /** What `render` makes of the latest sample, made once for all who may see the same. */
  async rendered(audience: string, render: (span: Span) => Promise<string>): Promise<string> {
    const span = await this.span();
    if (this.#rendered?.sample !== span.to) this.#rendered = { sample: span.to, texts: new Map() };
    const { texts } = this.#rendered;
    const known = texts.get(audience);
    if (known !== undefined) return known;
    const text = render(span);
    texts.set(audience, text);
    // The next request tries again.
    text.catch(() => texts.delete(audience));
    return text;
  }

  async #take(atMs: number): Promise<Sample> {
    const sample = new Sample(await this.#read(), atMs);
    // What was counted before the first sample ended since the process started.
    this.history.add(new Span(this.#samples.at(-1) ?? new Sample('', atMs), sample));
    this.#samples.push(sample);
    while (this.#samples[0]!.atMs < atMs - KEPT_MS) this.#samples.shift();
    return sample;
  }
}
