import type { Readable } from 'node:stream';

interface Serving {
  readonly public: string;
  readonly admin: string;
}

const KEPT_LINES = 200;

/** Reads what the gateway logs, line by line: counts exchanges by status, keeps warnings and errors. */
export class LogReader {
  /** Exchanges by status. */
  readonly statuses = new Map<number, number>();
  /** Exchanges that the gateway says it counted. */
  counted = 0;
  /** Lines at warning and above, the first ones. */
  readonly complaints: string[] = [];
  readonly serving: Promise<Serving>;
  readonly ended: Promise<void>;
  #onServing: (line: Serving) => void = () => undefined;
  #rest = '';

  constructor(stream: Readable) {
    this.serving = new Promise((resolve) => (this.#onServing = resolve));
    stream.setEncoding('latin1').on('data', (text: string) => this.#read(text));
    this.ended = new Promise((resolve) => stream.once('end', resolve));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line.endsWith('"msg":"exchange"}')) {
      const at = line.indexOf('"status":') + 9;
      const status = Number(line.slice(at, at + 3));
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      if (line.includes('"counted":true')) this.counted += 1;
    } else if (line.includes('"msg":"serving"')) {
      this.#onServing(JSON.parse(line) as Serving);
    } else if (/"level":"(warn|error|fatal)"/.test(line) && this.complaints.length < KEPT_LINES) {
      this.complaints.push(line);
    }
  }
}
