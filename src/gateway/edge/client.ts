import type { Readable } from 'node:stream';
import type { EdgeLimits } from '../config/schema/limits.js';
import type { Body, ChunkSource, Client } from '../exchange.js';
import { bodyTooLarge, REFUSALS, type Refusal } from '../refusal.js';
import { gatherBody, HELD_BYTES } from './body/gather.js';
import { ArrivingRest } from './body/rest.js';
import type { InFlight, Traffic } from './traffic.js';

type Read = Body | Refusal | 'gone';

/** After this time an untaken response counts as waiting for its client. */
const SLOW_MS = 50;

/** The client's side of an exchange over any HTTP version: its slots, and the body it sends. */
export abstract class ServedClient implements Client, InFlight {
  gone = false;
  caller = '';
  state: InFlight['state'] = 'active';
  bodyBytes = 0;
  bytesOut = 0;
  /** Always called once, when the response has ended or the client has left. */
  onClosed: () => void = () => undefined;
  abstract readonly status: number;
  abstract readonly started: boolean;
  abstract readonly peerAddress: string | undefined;
  abstract readonly isEncrypted: boolean;
  protected readonly limits: EdgeLimits;
  readonly #source: Readable;
  readonly #traffic: Traffic;
  #onGone: (() => void) | null = null;
  #onDrain: (() => void) | null = null;
  #settleBody: ((read: Read) => void) | null = null;
  #rest: ArrivingRest | null = null;
  /** Set once the body is known to be incomplete. */
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
  /** Reading of the body begins: a client that expects 100 Continue gets it. */
  protected abstract beginBody(): void;
  /** From now on the remainder of the body is timed piece by piece, not as a whole. */
  protected abstract beginRest(): void;
  /** Whether the body that ended is complete and did not break off. */
  protected abstract endedWhole(): boolean;

  /** Whether more of a long body may arrive. */
  get isStreaming(): boolean {
    return this.#rest !== null && !this.#rest.isOver;
  }

  onGone(listener: () => void): void {
    if (this.gone) listener();
    else this.#onGone = listener;
  }

  /** Sends nothing more to this client. */
  leave(): void {
    this.gone = true;
    this.#rest?.stop();
    this.#onGone?.();
  }

  protected closed(): void {
    clearTimeout(this.#slow);
    this.onClosed();
  }

  reserveBody(declared: number | null, maxBytes: number): Refusal | null {
    if (this.#broken !== null || this.gone) return this.#broken;
    const isWhole = this.isWhole();
    const bytes = isWhole ? this.#source.readableLength : Math.min(declared ?? maxBytes, HELD_BYTES);
    if (bytes > maxBytes) return bodyTooLarge(maxBytes);
    const hasSlot = isWhole || this.#traffic.wait(this, this.limits);
    return hasSlot && this.#traffic.hold(this, bytes, this.limits) ? null : REFUSALS.overloaded;
  }

  readBody(declared: number | null, maxBytes: number): Promise<Read> {
    if (this.#broken !== null) return Promise.resolve(this.#broken);
    if (this.gone) return Promise.resolve('gone');
    this.beginBody();
    return new Promise((resolve) => {
      this.#settleBody = (read) => {
        this.#settleBody = null;
        resolve(read);
      };
      this.#onGone = () => this.#settleWith('gone', 0);
      this.#source.on('error', () => this.#settleWith('gone', 0));
      gatherBody(this.#source, declared, {
        maxBytes,
        isWhole: () => this.endedWhole(),
        onWhole: (bytes) => this.#settleWith({ bytes, rest: null }, bytes.length),
        onLong: (bytes) => this.#settleBody?.({ bytes, rest: this.#makeRest(bytes.length, declared, maxBytes) }),
        onRefused: (refusal) => this.#settleWith(refusal, 0),
      });
    });
  }

  /** It no longer waits for its client, and holds this many bytes of its body. */
  #settleWith(read: Read, heldBytes: number): void {
    if (this.#settleBody === null) return;
    this.#traffic.resume(this, heldBytes);
    this.#settleBody(read);
  }

  #makeRest(bytes: number, length: number | null, maxBytes: number): ArrivingRest {
    this.beginRest();
    this.#rest = new ArrivingRest(this.#source, bytes, {
      length,
      maxBytes,
      idleMs: this.limits.request_time,
      isWhole: () => this.endedWhole(),
    });
    this.#rest.onOver(() => this.#traffic.resume(this, 0));
    return this.#rest;
  }

  protected breakBody(refusal: Refusal): void {
    this.#broken = refusal;
    this.#settleWith(refusal, 0);
    this.#rest?.break(refusal);
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  protected drained(): void {
    const drain = this.#onDrain;
    this.#onDrain = null;
    drain?.();
  }

  /** A response that is not taken soon waits for its client; it is reset if no slot is free for that. */
  protected waitSoon(onWaiting: () => void = () => undefined): void {
    this.#slow = setTimeout(() => {
      if (this.#traffic.wait(this, this.limits)) onWaiting();
      else this.abort();
    }, SLOW_MS);
  }
}
