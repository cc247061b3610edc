import { customerOf } from '../../store/records/customer-id.js';
import type { Exchange, ExchangeLog } from '../../exchange.js';
import { decisionText, nameText, UNDECIDED } from './decision-text.js';

const PROGRAM = `","program":"gateway","pid":${process.pid},"request":"`;

// Two caches: a batch is admitted in one millisecond, and its exchanges end in others.
const decidedIso = isoClock();
const endedIso = isoClock();

/**
 * One exchange's line in the access log, concatenated by hand at a quarter of the cost of a general JSON serializer.
 * Names of operations and windows are escaped. All other texts come from a closed set or have matched a pattern that
 * allows nothing to escape. Lines are written together when the turn ends (shared/log-lines.ts).
 */
export class AccessLine {
  readonly #exchange: Exchange;
  readonly #status: number;
  readonly #totalMs: number;
  readonly #mark: string;
  readonly #endedMs = Date.now();
  readonly #bytes: number;

  /** @param mark JSON that says that lines are left out; empty without sampling */
  constructor(exchange: Exchange, status: number, totalMs: number, mark: string) {
    this.#exchange = exchange;
    this.#status = status;
    this.#totalMs = totalMs;
    this.#mark = mark;
    this.#bytes = exchange.client.bytesOut;
  }

  toString(): string {
    const { id, traceparent, version, method, address, logEntry } = this.#exchange;
    const { verdict } = logEntry;
    // By the store's clock, which determines the ledger's UTC day.
    const decidedAt = verdict === null ? null : decidedIso(verdict.atMs);
    const admittedAt = logEntry.counted === true ? decidedAt : null;
    const keyId = verdict?.keyId ?? logEntry.keyId;
    return (
      `{"level":"info","time":"${endedIso(this.#endedMs)}${PROGRAM}${id}"` +
      `,"trace":"${traceparent.slice(3, 35)}","span":"${traceparent.slice(36, 52)}"` +
      `,"http":${quoted(version)},"method":"${method}","operation":${nameText(logEntry.operation)}` +
      `,"key":${quoted(keyId)},"customer":${quoted(keyId && customerOf(keyId))},"plan":${quoted(verdict?.plan)}` +
      `,"outcome":"${verdict?.outcome ?? 'none'}","code":${quoted(logEntry.refusal?.code)}${reasonIn(logEntry)}` +
      `,"credential":${quoted(logEntry.credential)},"address":"${address}"` +
      `,"status":${this.#status},"bytes":${this.#bytes}${bytesInPart(logEntry)}` +
      `,"ms":${round(this.#totalMs)},"admissionMs":${round(logEntry.admissionMs)}` +
      `,"upstreamMs":${round(logEntry.upstreamMs)},"counted":${logEntry.counted}` +
      `,"units":${chargedBy(logEntry)},"admittedAt":${quoted(admittedAt)}` +
      `,"decidedAt":${quoted(decidedAt)},"cost":${verdict?.cost ?? 0},"contractCost":${logEntry.contractCost}` +
      `,${verdict === null ? UNDECIDED : decisionText(verdict)}` +
      `${this.#mark},"msg":"exchange"}\n`
    );
  }
}

/** The units that the ledger has of it, and what is left of them once a hold is settled. */
function chargedBy({ counted, verdict, settled }: ExchangeLog): string {
  const cost = counted === true ? (verdict?.cost ?? 0) : 0;
  return settled === null ? String(cost) : `${Math.max(cost, settled)},"settled":${settled}`;
}

/** For a tunnel: bytes from the client, and who ended it. For a long body: its bytes. */
function bytesInPart({ tunnel, rest }: ExchangeLog): string {
  if (rest !== null) return `,"bytesIn":${rest.bytes}`;
  return tunnel === null ? '' : `,"bytesIn":${tunnel.bytesIn},"closedBy":${quoted(tunnel.closedBy)}`;
}

/** Returns what was wrong with the upstream's response, for a 502. */
function reasonIn({ refusal }: ExchangeLog): string {
  return refusal?.reason === undefined ? '' : `,"reason":"${refusal.reason}"`;
}

function quoted(text: string | null | undefined): string {
  return text === null || text === undefined ? 'null' : `"${text}"`;
}

/** Caches the last result: many lines share a millisecond. */
function isoClock(): (atMs: number) => string {
  let lastMs = NaN;
  let last = '';
  return (atMs) => {
    if (atMs !== lastMs) {
      last = new Date(atMs).toISOString();
      lastMs = atMs;
    }
    return last;
  };
}

const THOUSANDTHS: readonly string[] = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));

/** Formats to the microsecond from two integers: formatting a fraction costs several times as much. */
function round(ms: number): string {
  const us = Math.max(0, Math.round(ms * 1000));
  const whole = Math.floor(us / 1000);
  return `${whole}.${THOUSANDTHS[us - whole * 1000]!}`;
}
