import type { Readable } from 'node:stream';
import type { BodyRest, BodySink, BodyWatcher } from '../../exchange.js';
import { bodyTooLarge, REFUSALS, type Refusal } from '../../refusal.js';

/** Fewer bytes count as silence: otherwise a byte now and then would hold an upstream connection permanently. */
const HEARD_BYTES = 1024;

interface Terms {
  /** Length of the whole body, bytes; null: only its end shows. */
  readonly length: number | null;
  readonly maxBytes: number;
  /** How long a client may take for a KiB while it is being read. */
  readonly idleMs: number;
  /** At its end: whether it ended, rather than broke off. */
  readonly isWhole: () => boolean;
}

/** The remainder of a long body. It is read only once it has a reader, and only as fast as that takes it. */
export class ArrivingRest implements BodyRest {
  bytes: number;
  isOver = false;
  readonly #source: Readable;
  readonly #terms: Terms;
  #sink: BodySink | null = null;
  #watcher: BodyWatcher | null = null;
  #broken: Refusal | null = null;
  #paused = false;
  #silence: NodeJS.Timeout | undefined;
  /** How many of `bytes` had arrived at the last reset of the silence timer. */
  #heardBytes: number;
  readonly #onOver: (() => void)[] = [];
  readonly #onPiece = (piece: Buffer): void => this.#take(piece);
  readonly #onEnd = (): void => this.#end();

  /** @param bytes received before */
  constructor(source: Readable, bytes: number, terms: Terms) {
    this.#source = source;
    this.bytes = bytes;
    this.#heardBytes = bytes;
    this.#terms = terms;
  }

  get length(): number | null {
    return this.#terms.length;
  }

  get awaitsClient(): boolean {
    return this.#sink !== null && !this.#paused && !this.isOver;
  }

  watch(watcher: BodyWatcher): void {
    this.#watcher = watcher;
    if (this.#broken !== null) watcher.onBroken(this.#broken);
  }

  onOver(listener: () => void): void {
    if (this.isOver) listener();
    else this.#onOver.push(listener);
  }

  readInto(sink: BodySink): void {
    if (this.isOver) return;
    this.#sink = sink;
    this.#silence = setTimeout(() => this.#onSilence(), this.#terms.idleMs);
    this.#source.on('data', this.#onPiece).on('end', this.#onEnd);
    // A body that arrived completely while it was gathered has ended before anything listened.
    if (this.#source.readableEnded) process.nextTick(this.#onEnd);
    else if (!this.#paused) this.#source.resume();
  }

  pause(): void {
    if (this.#paused || this.isOver) return;
    this.#paused = true;
    if (this.#sink !== null) this.#source.pause();
    this.#watcher?.onMoved();
  }

  resume(): void {
    if (!this.#paused || this.isOver) return;
    this.#paused = false;
    this.#heard();
    this.#watcher?.onMoved();
    if (this.#sink !== null) this.#source.resume();
  }

  /** It will never be complete. */
  break(refusal: Refusal): void {
    if (this.isOver) return;
    this.#broken = refusal;
    this.stop();
    this.#watcher?.onBroken(refusal);
  }

  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#silence);
    this.#source.pause().off('data', this.#onPiece).off('end', this.#onEnd);
    for (const listener of this.#onOver) listener();
  }

  #take(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.bytes > this.#terms.maxBytes) this.break(bodyTooLarge(this.#terms.maxBytes));
    else {
      if (this.bytes - this.#heardBytes >= HEARD_BYTES) this.#heard();
      this.#sink!.take(piece);
    }
  }

  #heard(): void {
    this.#heardBytes = this.bytes;
    this.#silence?.refresh();
  }

  /** A broken body ends, too, if its client reset an HTTP/2 stream. */
  #end(): void {
    if (this.isOver) return;
    const sink = this.#sink!;
    const isWhole = this.#terms.isWhole();
    this.stop();
    if (isWhole) sink.end();
  }

  /** While nothing is read, the client is not the silent one. */
  #onSilence(): void {
    if (this.#paused) this.#heard();
    else this.break(REFUSALS.request_timeout);
  }
}
