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
  if ('header' in source) return headerMeter(source.header);
  return 'bytes' in source ? byteMeter(source.bytes) : jsonMeter(source.json);
}

/** Returns a figure in whole units; null if it is none. */
export function unitsOf(figure: unknown): number | null {
  return typeof figure === 'number' && figure >= 0 && figure <= MAX_FIGURE ? Math.ceil(figure) : null;
}

function headerMeter(name: string): Meter {
  let units: number | null = null;
  return {
    onHead: (headers) => {
      const value = onlyValueOf(headers, name);
      units = value !== null && /^\d{1,10}(?:\.\d{1,10})?$/.test(value) ? unitsOf(Number(value)) : null;
    },
    onData: () => undefined,
    end: () => units,
  };
}

function byteMeter(bytesPerUnit: number): Meter {
  let bytes: number | null = null;
  return {
    onHead: () => void (bytes = 0),
    onData: (chunk) => {
      if (bytes !== null) bytes += chunk.length;
    },
    onReplaced: () => void (bytes = null),
    end: () => (bytes === null ? null : unitsOf(bytes / bytesPerUnit)),
  };
}

/** Reads a member of a JSON body, or of the last event of a stream that has it. */
function jsonMeter(path: readonly string[]): Meter {
  let reader: JsonReader | null = null;
  return {
    onHead: (headers) => {
      const type = onlyValueOf(headers, 'content-type') ?? '';
      const isEncoded = (onlyValueOf(headers, 'content-encoding') ?? 'identity').toLowerCase() !== 'identity';
      if (isEncoded) reader = null;
      else if (EVENTS_TYPE.test(type)) reader = eventReader(path);
      else reader = JSON_TYPE.test(type) ? bodyReader(path) : null;
    },
    onData: (chunk) => reader?.onData(chunk),
    end: () => reader?.end() ?? null,
  };
}

type JsonReader = Pick<Meter, 'onData' | 'end'>;

/** Bytes that all bodies hold. */
let heldBytes = 0;

function bodyReader(path: readonly string[]): JsonReader {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isTooLong = false;
  const release = (): void => {
    heldBytes -= bytes;
    bytes = 0;
    pieces.length = 0;
  };
  return {
    onData: (chunk) => {
      if (isTooLong) return;
      bytes += chunk.length;
      heldBytes += chunk.length;
      // A copy: the memory of the chunk is reused once it has been sent.
      pieces.push(Buffer.from(chunk));
      isTooLong = bytes > MAX_JSON_BYTES || heldBytes > MAX_HELD_BYTES;
      if (isTooLong) release();
    },
    end: () => {
      const units = isTooLong ? null : memberOf(Buffer.concat(pieces).toString(), path);
      release();
      return units;
    },
  };
}

/** Server-sent events (HTML, "Server-sent events"): lines `data: …`, and an empty line after each event. */
function eventReader(path: readonly string[]): JsonReader {
  const decoder = new TextDecoder();
  let text = '';
  let data: string[] = [];
  let length = 0;
  let last: number | null = null;
  const take = (line: string): void => {
    if (line === '') {
      if (length <= MAX_JSON_BYTES) last = memberOf(data.join('\n'), path) ?? last;
      data = [];
      length = 0;
    } else if (line.startsWith('data:')) {
      length += line.length;
      if (length <= MAX_JSON_BYTES) data.push(line.slice('data:'.length));
      else data = [];
    }
  };
  return {
    onData: (chunk) => {
      const more = decoder.decode(chunk, { stream: true });
      const mayEnd = text.endsWith('\r') || /[\r\n]/.test(more);
      text += more;
      if (mayEnd) {
        // A CR at the end may be the first half of a CRLF.
        const lines = text.split(/\r\n|\n|\r(?!$)/);
        text = lines.pop()!;
        for (const line of lines) take(line);
      }
      // The rest of a longer line is read as another one, which has no figure.
      if (text.length > MAX_JSON_BYTES) text = '';
    },
    // A stream that broke off has the figure of its last whole event.
    end: () => last,
  };
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
