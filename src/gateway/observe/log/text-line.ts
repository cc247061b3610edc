import { styleText } from 'node:util';
import type { Exchange } from '../../exchange.js';
import { REASONS } from '../../refusals/reasons.js';

/** Longer paths are cut. */
const MAX_PATH = 80;
/** May be a key, sent in the path by mistake: our prefix, 16 characters that mix digits with others, or any 32. */
const KEY_LIKE = /pt[ga]_|^(?=.*\d)(?=.*[^\d-]).{16}|^.{32}/;

/** One exchange's log line for people: the request, its status, and why it was refused. */
export class TextLine {
  readonly #exchange: Exchange;
  readonly #status: number;
  readonly #totalMs: number;
  readonly #time = new Date().toISOString().slice(11, 19);

  constructor(exchange: Exchange, status: number, totalMs: number) {
    this.#exchange = exchange;
    this.#status = status;
    this.#totalMs = totalMs;
  }

  toString(): string {
    const { method, path } = this.#exchange;
    const style = this.#status < 400 ? 'green' : this.#status < 500 ? 'yellow' : 'red';
    const words = [
      styled('dim', this.#time),
      (method || '-').padEnd(6),
      shown(path).padEnd(28),
      styled(style, String(this.#status)),
      `${this.#totalMs.toFixed(1)} ms`.padStart(9),
      reasonOf(this.#exchange, this.#status),
    ];
    return `${words.join('  ').trimEnd()}\n`;
  }
}

function styled(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text;
}

/** Masks possible keys in a path; queries are never shown. */
function shown(path: string): string {
  const segments = path.split('/').map((segment) => (KEY_LIKE.test(segment) ? `${segment.slice(0, 3)}…` : segment));
  const whole = segments.join('/') || '-';
  return whole.length > MAX_PATH ? `${whole.slice(0, MAX_PATH - 1)}…` : whole;
}

/** Returns the refusal's code, what was wrong with the credential, and the first sentence of its message. */
function reasonOf({ logEntry: { refusal, credential, upstream } }: Exchange, status: number): string {
  if (refusal === null) return status >= 400 && upstream !== null ? `answered by ${upstream}` : '';
  const { message } = JSON.parse(refusal.body) as { message: string };
  const flaw = credential === null || credential === 'missing' ? '' : ` (${credential})`;
  if (refusal.reason !== undefined) return `${refusal.code}: ${REASONS[refusal.reason]}`;
  return `${refusal.code}${flaw}: ${message.replace(/(?<=\.) .*/, '')}`;
}
