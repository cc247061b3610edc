import type { Readable } from 'node:stream';
import type { EdgeLimits } from '../config/settings.js';
import type { ChunkSource, Client } from '../exchange.js';
import { REFUSALS, type Refusal } from '../refusal.js';
import { gatherBody } from './body.js';
import type { InFlight, Traffic } from './traffic.js';

type Body = Buffer | Refusal | 'gone';

/** How long an answer may need to be taken before its exchange is one that waits for its client. */
const SLOW_MS = 50;

/** The client's side of an exchange, whichever HTTP it came by: the places it takes, and the body it sends. */
export abstract class ServedClient implements Client, InFlight {
  gone = false;
  caller = '';
  state: InFlight['state'] = 'active';
  bodyBytes = 0;
  bytesOut = 0;
  /** Called once, when its answer ended or it left; always. */
  onClosed: () => void = () => undefined;
  abstract readonly status: number;
  abstract readonly started: boolean;
  protected readonly limits: EdgeLimits;
  readonly #source: Readable;
  readonly #traffic: Traffic;
  #onGone: (() => void) | null = null;
  #onDrain: (() => void) | null = null;
  #settleBody: ((body: Body) => void) | null = null;
  /** Set once the body is known never to come whole. */
  #broken: Refusal | null = null;
  #slow: NodeJS.Timeout | undefined;

  constructor(source: Readable, traffic: Traffic, limits: EdgeLimits) {
    this.#source = source;
    this.#traffic = traffic;
    this.limits = limits;
  }

  abstract send(status: number, headers: string[], body: Buffer | string): void;
  abstract start(status: number, headers: string[]): void;
  abstract write(chunk: Buffer, from?: ChunkSource | null): boolean;
  abstract end(): void;
  abstract abort(): void;
  protected abstract isWhole(): boolean;
  /** The body is read from now on: a client that expects 100 Continue gets it. */
  protected abstract beginBody(): void;

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone = listener;
  }

  /** Nothing more is sent to this client. */
  leave(): void {
    this.gone = true;
    this.#onGone?.();
  }

  protected closed(): void {
    clearTimeout(this.#slow);
    this.onClosed();
  }

  reserveBody(declared: number | null, maxBytes: number): Refusal | null {
    if (this.#broken !== null || this.gone) return this.#broken;
    const isWhole = this.isWhole();
    const bytes = isWhole ? this.#source.readableLength : (declared ?? maxBytes);
    if (bytes > maxBytes) return REFUSALS.body_too_large;
    const hasSlot = isWhole || this.#traffic.wait(this, this.limits);
    return hasSlot && this.#traffic.hold(this, bytes, this.limits) ? null : REFUSALS.overloaded;
  }

  readBody(maxBytes: number): Promise<Body> {
    if (this.#broken !== null) return Promise.resolve(this.#broken);
    if (this.gone) return Promise.resolve('gone');
    this.beginBody();
    return new Promise((resolve) => {
      this.#settleBody = (body) => {
        this.#settleBody = null;
        this.#traffic.resume(this, Buffer.isBuffer(body) ? body.length : 0);
        resolve(body);
      };
      const settle = (body: Body): void => this.#settleBody?.(body);
      this.#onGone = () => settle('gone');
      gatherBody(this.#source, maxBytes, settle);
      this.#source.on('error', () => settle('gone'));
    });
  }

  protected breakBody(refusal: Refusal): void {
    this.#broken = refusal;
    this.#settleBody?.(refusal);
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  protected drained(): void {
    const drain = this.#onDrain;
    this.#onDrain = null;
    drain?.();
  }

  /** An answer that is not taken soon waits for its client; where there is no place for that it is cut. */
  protected waitSoon(onWaiting: () => void = () => undefined): void {
    this.#slow = setTimeout(() => {
      if (this.#traffic.wait(this, this.limits)) onWaiting();
      else this.abort();
    }, SLOW_MS);
  }
}
