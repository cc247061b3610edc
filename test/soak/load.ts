import { connect, type Socket } from 'node:net';
import { Latencies } from './histogram.js';

/**
 * A process that sends at a constant rate, whether or not others were answered. Time counts from when a request was
 * due: what waits for a free connection waits on the clock. It tells the parent every `reportSeconds`, and at the end.
 */
export interface LoadTask {
  readonly port: number;
  readonly tokens: readonly string[];
  readonly connections: number;
  /** Requests a second; null: each connection sends again once it was answered. */
  readonly rate: number | null;
  readonly seconds: number;
  readonly reportSeconds: number;
}
/** Of what ended since the report before. */
export interface LoadReport {
  /** Answers by status; 0: the connection broke. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** Requests that were due and are not sent. */
  readonly waiting: number;
  readonly ended: boolean;
}

const TICK_MS = 1;
/** A program that has just started is no program that has run for hours: the rate grows for so long. */
const RAMP_S = 10;
const LENGTH = /\r\ncontent-length: *(\d+)/i;

class Load {
  readonly #task: LoadTask;
  readonly #messages: readonly Buffer[];
  readonly #idle: Socket[] = [];
  readonly #waiting: number[] = [];
  readonly #latencies = new Latencies();
  #statuses: Record<number, number> = {};
  #sent = 0;
  #answered = 0;

  constructor(task: LoadTask) {
    this.#task = task;
    this.#messages = task.tokens.map((token) =>
      Buffer.from(
        `GET /v1/pets?limit=20 HTTP/1.1\r\nHost: 127.0.0.1:${task.port}\r\nUser-Agent: soak\r\nAuthorization: ` +
          `Bearer ${token}\r\n\r\n`,
      ),
    );
  }

  async run(): Promise<void> {
    const { connections, rate, seconds, reportSeconds } = this.#task;
    await Promise.all(Array.from({ length: connections }, () => this.#open()));
    const reports = setInterval(() => this.#report(false), reportSeconds * 1000);
    if (rate === null) await this.#asFastAsAnswered(seconds);
    else await this.#steadily(rate, seconds);
    clearInterval(reports);
    this.#report(true);
  }

  async #asFastAsAnswered(seconds: number): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    await eachTick((nowMs) => {
      while (nowMs < endMs && this.#idle.length > 0) this.#send(this.#idle.pop()!, nowMs);
      return nowMs >= endMs && this.#answered === this.#sent;
    });
  }

  async #steadily(rate: number, seconds: number): Promise<void> {
    // Half of it comes while the rate grows.
    const inRamp = (Math.min(RAMP_S, seconds) * rate) / 2;
    const total = Math.round(seconds * rate - inRamp);
    const dueAtMs = (due: number): number =>
      startMs + (due < inRamp ? Math.sqrt((due / inRamp) * RAMP_S ** 2) : RAMP_S + (due - inRamp) / rate) * 1000;
    const startMs = performance.now();
    let due = 0;
    await eachTick((nowMs) => {
      for (; due < total && dueAtMs(due) <= nowMs; due += 1) this.#waiting.push(dueAtMs(due));
      this.#sendWaiting();
      return this.#answered >= total;
    });
  }

  #sendWaiting(): void {
    let taken = 0;
    while (taken < this.#waiting.length && this.#idle.length > 0)
      this.#send(this.#idle.pop()!, this.#waiting[taken++]!);
    this.#waiting.splice(0, taken);
  }

  #open(): Promise<void> {
    const socket = connect({ port: this.#task.port, host: '127.0.0.1', noDelay: true });
    socket.setEncoding('latin1');
    return new Promise((resolve) => {
      socket.once('connect', () => {
        this.#idle.push(socket);
        resolve();
      });
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#lost(socket));
    });
  }

  /** A connection that ended gets a successor; what was on it counts as broken. */
  #lost(socket: Socket): void {
    const at = this.#idle.indexOf(socket);
    if (at !== -1) this.#idle.splice(at, 1);
    else if (socket.listenerCount('data') > 0) this.#count(0, 0);
    setTimeout(() => void this.#open(), 10);
  }

  #send(socket: Socket, dueMs: number): void {
    let received = '';
    const read = (text: string): void => {
      received += text;
      const head = received.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(LENGTH.exec(received.slice(0, head))?.[1] ?? 0);
      if (received.length < head + 4 + length) return;
      socket.off('data', read);
      this.#count(Number(received.slice(9, 12)), performance.now() - dueMs);
      if (received.slice(0, head).toLowerCase().includes('connection: close')) socket.destroy();
      else this.#idle.push(socket);
      this.#sendWaiting();
    };
    socket.on('data', read);
    socket.write(this.#messages[this.#sent++ % this.#messages.length]!);
  }

  #count(status: number, tookMs: number): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    this.#latencies.add(tookMs);
    this.#answered += 1;
  }

  #report(ended: boolean): void {
    const { longestMs } = this.#latencies;
    const report: LoadReport = {
      statuses: this.#statuses,
      p50Ms: this.#latencies.quantile(0.5),
      p99Ms: this.#latencies.quantile(0.99),
      longestMs,
      waiting: this.#waiting.length,
      ended,
    };
    this.#statuses = {};
    this.#latencies.clear();
    process.send?.(report);
  }
}

/** Calls `turn` again and again, until it says that all is done. */
function eachTick(turn: (nowMs: number) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (!turn(performance.now())) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
}

if (process.send !== undefined) {
  process.on('disconnect', () => process.exit());
  process.once('message', (task) => void new Load(task as LoadTask).run());
}
