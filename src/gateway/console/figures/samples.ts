import { Sample } from './sample.js';
import type { History } from './history.js';
import { Span } from './window.js';

/** Interval of samples while nobody watches: a page that opens has the last minute immediately. */
const EVERY_MS = 30_000;
/** Shortest interval of samples, however many people watch. */
const LEAST_MS = 5_000;
/** Period of the figures that are shown as current. */
const NOW_MS = 60_000;
const KEPT_MS = 2 * NOW_MS;

/** Samples of the last two minutes. Everyone who watches shares the samples and the rendered pages. */
export class Samples {
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
    // The next request tries again.
    sample.catch(() => (this.#taking = null));
    return sample;
  }

  /** Returns about the last minute; less after a start. */
  async span(): Promise<Span> {
    const to = await this.latest();
    const from = this.#samples.findLast(({ atMs }) => atMs <= to.atMs - NOW_MS) ?? this.#samples[0] ?? to;
    return new Span(from, to);
  }

  /** Returns the rendering of the latest span, once for each `audience`: visitors who may see the same. */
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
    // Before the first sample, all counters were 0: the process had just started.
    const before = this.#samples.at(-1) ?? new Sample('', atMs);
    this.#samples.push(sample);
    while (this.#samples[0]!.atMs < atMs - KEPT_MS) this.#samples.shift();
    await this.history.add(new Span(before, sample));
    return sample;
  }
}
