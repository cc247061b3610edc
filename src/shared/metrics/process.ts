import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Histogram, type Registry } from 'prom-client';
import { gaugeOf } from './gauge.js';
import { droppedLines } from '../log-lines.js';

/** Interval of the timer that measures event-loop delay. */
const TICK_MS = 100;
/** Seconds. */
const DELAY_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Adds metrics of this process (CPU, memory, event loop) to `registry`, under names that begin with `prefix`. All of
 * them can be combined over processes, unlike most of prom-client's default metrics (lag, start time, version), which
 * also lack a histogram of event-loop delay. Never keeps a process alive.
 */
export function addProcessMetrics(registry: Registry, prefix: string): void {
  totalOf(registry, `${prefix}_process_cpu_seconds_total`, 'CPU time taken, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  totalOf(
    registry,
    `${prefix}_event_loop_busy_seconds_total`,
    'Time the event loop was at work; its rate is the share of one CPU a process can use at most.',
    () => performance.eventLoopUtilization().active / 1000,
  );
  totalOf(
    registry,
    `${prefix}_log_dropped_lines_total`,
    'Lines of the log that were dropped because nothing read it.',
    droppedLines,
  );
  const memory = `${prefix}_process_resident_memory_bytes`;
  gaugeOf(registry, memory, 'Memory held, resident set size.', () => process.memoryUsage.rss());
  const delay = new Histogram({
    name: `${prefix}_event_loop_delay_seconds`,
    help: 'How late the event loop comes to a timer, ten times a second.',
    buckets: DELAY_BUCKETS,
    registers: [registry],
  });
  const longest = new LongestDelay();
  gaugeOf(
    registry,
    `${prefix}_event_loop_delay_max_seconds`,
    'The longest time within the last minute that the event loop came late; of all processes the longest.',
    () => longest.ms() / 1000,
    'max',
  );
  let dueMs = performance.now() + TICK_MS;
  setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + TICK_MS;
  }, TICK_MS).unref();
}

const SPAN_MS = 15_000;
const SPANS = 4;

/** The longest event-loop delay within the last minute, as measured by a libuv timer. */
class LongestDelay {
  readonly #delays = monitorEventLoopDelay({ resolution: 10 });
  #spansMs: readonly number[] = [];

  constructor() {
    this.#delays.enable();
    setInterval(() => {
      this.#spansMs = [...this.#spansMs, this.#currentMs()].slice(-SPANS);
      this.#delays.reset();
    }, SPAN_MS).unref();
  }

  ms(): number {
    return Math.max(this.#currentMs(), ...this.#spansMs);
  }

  // The monitor ticks every 10 ms, and records the whole time between two ticks.
  #currentMs(): number {
    return Math.max(0, this.#delays.max / 1e6 - 10);
  }
}

/** Adds a counter whose total is kept elsewhere: `total` is read at each scrape. */
export function totalOf(registry: Registry, name: string, help: string, total: () => number): void {
  let shown = 0;
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      const now = total();
      this.inc(Math.max(0, now - shown));
      shown = now;
    },
  });
}
