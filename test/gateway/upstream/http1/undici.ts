import { Duplex } from 'node:stream';
import { Client } from 'undici';

/** What undici made of an answer whose connection then ended; `whole` is false where it failed. */
export interface UndiciReading {
  readonly whole: boolean;
  readonly status: number;
  /** `name: value` each. */
  readonly fields: readonly string[];
  /** As latin1. */
  readonly body: string;
}

/** A server's end that gives these pieces, one by one, once it was asked, and then ends. */
class Pieces extends Duplex {
  readonly #pieces: Buffer[];
  #asked = false;
  #wanted = false;

  constructor(pieces: readonly Buffer[]) {
    super();
    this.#pieces = [...pieces];
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, taken: () => void): void {
    taken();
    this.#asked = true;
    if (this.#wanted) this._read();
  }

  override _read(): void {
    this.#wanted = true;
    if (this.#asked) this.push(this.#pieces.shift() ?? null);
  }

  setTimeout(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** Has undici read `pieces` as the answer to a request of this method. */
export function readByUndici(pieces: readonly Buffer[], method: 'GET' | 'HEAD'): Promise<UndiciReading> {
  const socket = new Pieces(pieces).on('error', () => undefined);
  const client = new Client('http://pets.example', {
    connect: (_options, connected) => queueMicrotask(() => connected(null, socket as never)),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let status = 0;
  let fields: readonly string[] = [];
  let body = '';
  return new Promise((resolve) => {
    const end = (whole: boolean): void => {
      resolve({ whole, status, fields, body });
      void client.destroy();
    };
    client.dispatch(
      { method, path: '/' },
      {
        onRequestStart: () => undefined,
        onResponseStart: (controller, code) => {
          if (code < 200) return;
          status = code;
          const raw = (controller.rawHeaders ?? []) as Buffer[];
          fields = raw.flatMap((name, index) =>
            index % 2 === 0 ? [`${name.toString('latin1').toLowerCase()}: ${raw[index + 1]!.toString('latin1')}`] : [],
          );
        },
        onResponseData: (_controller, chunk) => void (body += chunk.toString('latin1')),
        onResponseEnd: () => end(true),
        onResponseError: () => end(false),
      },
    );
  });
}
