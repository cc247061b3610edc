import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { rssMiB } from '../bench/cpu.js';
import { longestTurnMs } from '../bench/turns.js';
import type { SoakGateway } from './gateway.js';

const MIB = 1_048_576;
const LOOP_MAX = /^petgate_event_loop_delay_max_seconds(?:\{[^}]*\})? (\S+)$/m;

/** The worst of an interval. */
export interface Seen {
  readonly memoryMiB: number;
  readonly filesMiB: number;
  /** How late the event loop came, by the clock: what else the machine does counts too. */
  readonly loopMs: number;
  /** The longest turn of the event loop, CPU time. */
  readonly turnMs: number;
  readonly notReady: readonly string[];
}

/** Looks at a gateway once a second, from outside. */
export class Watch {
  readonly #gateway: SoakGateway;
  #memoryMiB = 0;
  #filesMiB = 0;
  #loopMs = 0;
  #turnMs = 0;
  #notReady: string[] = [];
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(gateway: SoakGateway) {
    this.#gateway = gateway;
  }

  start(): void {
    this.#running = this.#run();
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.#running;
  }

  /** The worst since it was asked last. */
  take(): Seen {
    const seen = {
      memoryMiB: this.#memoryMiB,
      filesMiB: this.#filesMiB,
      loopMs: this.#loopMs,
      turnMs: this.#turnMs,
      notReady: this.#notReady,
    };
    this.#memoryMiB = this.#filesMiB = this.#loopMs = this.#turnMs = 0;
    this.#notReady = [];
    return seen;
  }

  async #run(): Promise<void> {
    for (let second = 0; !this.#stopped; second += 1) {
      await pause(1_000);
      this.#memoryMiB = Math.max(this.#memoryMiB, rssMiB(this.#gateway.child.pid!));
      this.#filesMiB = Math.max(this.#filesMiB, folderBytes(this.#gateway.dataFolder) / MIB);
      await this.#ask(second).catch((error: unknown) => this.#notReady.push(String(error)));
    }
  }

  async #ask(second: number): Promise<void> {
    this.#turnMs = Math.max(this.#turnMs, await longestTurnMs(this.#gateway.child));
    const ready = await this.#gateway.admin('GET', '/readyz');
    if (!(JSON.parse(ready) as { ready: boolean }).ready) this.#notReady.push(ready);
    if (second % 10 !== 9) return;
    const max = LOOP_MAX.exec(await this.#gateway.admin('GET', '/metrics'))?.[1];
    this.#loopMs = Math.max(this.#loopMs, Number(max ?? 0) * 1000);
  }
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
