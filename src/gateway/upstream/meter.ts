import type { CostSource } from '../contract/operation/cost.js';
import { onlyValueOf } from '../edge/fields.js';

/** A larger figure is a mistake, and counts as none. */
const MAX_FIGURE = 1_000_000_000;
/** The longest JSON body, or event of a stream, that is read. */
const MAX_JSON_BYTES = 1024 * 1024;
/** What all of them may hold in this process: beyond it, a body counts as too long. */
const MAX_HELD_BYTES = 64 * MAX_JSON_BYTES;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
const EVENTS_TYPE = /^text\/event-stream\b/i;

/** Reads from a response, as it passes, what it cost. Only the response that the client gets is read. */
export interface Meter {
  /** @param headers flat, names in lower case */
  onHead(headers: readonly string[]): void;
  onData(chunk: Buffer): void;
  /** The client gets an error of the gateway instead; absent if the figure of the replaced response counts. */
  onReplaced?(): void;
  /** Returns whole units, rounded up; null if the response has no figure. Call it once, at the end of the exchange. */
  end(): number | null;
}

export function meterOf(source: CostSource): Meter {
  if ('header' in source) return new HeaderMeter(source.header);
  return 'bytes' in source ? new ByteMeter(source.bytes) : new JsonMeter(source.json);
}

/** Returns a figure in whole units; null if it is none. */
export function unitsOf(figure: unknown): number | null {
  return typeof figure === 'number' && figure >= 0 && figure <= MAX_FIGURE ? Math.ceil(figure) : null;
}

class HeaderMeter implements Meter {
  readonly #name: string;
  #units: number | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  end(): number | null {
    return this.#units;
  }

  onHead(headers: readonly string[]): void {
    const value = onlyValueOf(headers, this.#name);
    this.#units = value !== null && /^\d{1,10}(?:\.\d{1,10})?$/.test(value) ? unitsOf(Number(value)) : null;
  }

  onData(): void {
    // The head has it.
  }
}

class ByteMeter implements Meter {
  readonly #bytesPerUnit: number;
  #bytes: number | null = null;

  constructor(bytesPerUnit: number) {
    this.#bytesPerUnit = bytesPerUnit;
  }

  end(): number | null {
    return this.#bytes === null ? null : unitsOf(this.#bytes / this.#bytesPerUnit);
  }

  onHead(): void {
    this.#bytes = 0;
  }

  onData(chunk: Buffer): void {
    if (this.#bytes !== null) this.#bytes += chunk.length;
  }

  onReplaced(): void {
    this.#bytes = null;
  }
}

/** Reads a member of a JSON body, or of the last event of a stream that has it. */
class JsonMeter implements Meter {
  readonly #path: readonly string[];
  #reader: JsonReader | null = null;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  end(): number | null {
    return this.#reader?.end() ?? null;
  }

  onHead(headers: readonly string[]): void {
    const type = onlyValueOf(headers, 'content-type') ?? '';
    const isEncoded = (onlyValueOf(headers, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity';
    if (isEncoded) this.#reader = null;
    else if (EVENTS_TYPE.test(type)) this.#reader = new EventReader(this.#path);
    else this.#reader = JSON_TYPE.test(type) ? new BodyReader(this.#path) : null;
  }

  onData(chunk: Buffer): void {
    this.#reader?.read(chunk);
  }
}

interface JsonReader {
  read(chunk: Buffer): void;
  end(): number | null;
}

/** Bytes that all bodies hold. */
let heldBytes = 0;

class BodyReader implements JsonReader {
  readonly #path: readonly string[];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #isTooLong = false;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  /** Copies the chunk: its memory is reused once it has been sent. */
  read(chunk: Buffer): void {
    if (this.#isTooLong) return;
    this.#bytes += chunk.length;
    heldBytes += chunk.length;
    this.#pieces.push(Buffer.from(chunk));
    this.#isTooLong = this.#bytes > MAX_JSON_BYTES || heldBytes > MAX_HELD_BYTES;
    if (this.#isTooLong) this.#release();
  }

  end(): number | null {
    const units = this.#isTooLong ? null : memberOf(Buffer.concat(this.#pieces).toString(), this.#path);
    this.#release();
    return units;
  }

  #release(): void {
    heldBytes -= this.#bytes;
    this.#bytes = 0;
    this.#pieces.length = 0;
  }
}

/** Server-sent events (HTML, "Server-sent events"): lines `data: …`, and an empty line after each event. */
class EventReader implements JsonReader {
  readonly #path: readonly string[];
  readonly #decoder = new TextDecoder();
  #text = '';
  #data: string[] = [];
  #length = 0;
  #last: number | null = null;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  read(chunk: Buffer): void {
    const more = this.#decoder.decode(chunk, { stream: true });
    const mayEnd = this.#text.endsWith('\r') || /[\r\n]/.test(more);
    this.#text += more;
    if (mayEnd) {
      // A CR at the end may be the first half of a CRLF.
      const lines = this.#text.split(/\r\n|\n|\r(?!$)/);
      this.#text = lines.pop()!;
      for (const line of lines) this.#take(line);
    }
    // The rest of a longer line is read as another one, which has no figure.
    if (this.#text.length > MAX_JSON_BYTES) this.#text = '';
  }

  /** A stream that broke off has the figure of its last whole event. */
  end(): number | null {
    return this.#last;
  }

  #take(line: string): void {
    if (line === '') {
      if (this.#length <= MAX_JSON_BYTES) this.#last = memberOf(this.#data.join('\n'), this.#path) ?? this.#last;
      this.#data = [];
      this.#length = 0;
    } else if (line.startsWith('data:')) {
      this.#length += line.length;
      if (this.#length <= MAX_JSON_BYTES) this.#data.push(line.slice('data:'.length));
      else this.#data = [];
    }
  }
}

/** Returns the figure at a path; null if the text is no JSON, or has none there. */
function memberOf(text: string, path: readonly string[]): number | null {
  // Most events of a stream have none, and a search costs a fraction of parsing them.
  const last = path.at(-1)!;
  if (/^\w+$/.test(last) && !text.includes(last)) return null;
  try {
    let value = JSON.parse(text) as unknown;
    for (const name of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return unitsOf(value);
  } catch {
    return null;
  }
}
