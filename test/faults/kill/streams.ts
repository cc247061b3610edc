import type { ServerResponse } from 'node:http';
import type { Gateway } from '../../servers/gateway.js';
import type { Upstream } from '../../servers/upstream.js';

export const HOLD = 40;
/** One response in so many costs more than its hold. */
const EXCEEDS_EVERY = 25;
const EVENTS = { 'content-type': 'text/event-stream' };
const figure = (tokens: number): string => `data: {"usage":{"total_tokens":${tokens}}}\n\n`;

/** What the upstream knows of one gateway's requests. */
interface Account {
  seen: number;
  /** Tokens of the streams that ended. */
  sum: number;
  /** Streams that broke off before they had a figure, or never will have one. */
  lost: number;
}

/** An upstream that streams random figures, and knows at every moment what was used. */
export class Streams {
  readonly upstream: Upstream;
  readonly silent = new Set<ServerResponse>();
  /** Streams of the gateway with this port get no figure and no end. */
  silentPort: number | null = null;
  open = 0;
  excess = 0;
  /** The most streams at once. */
  mostOpen = 0;
  /** The most that was used and held beyond what responses cost more than their holds, at any moment. */
  mostUsed = 0;
  readonly #accounts = new Map<number, Account>();
  readonly #stepMs: number;

  /** @param stepMs the longest time between two events of a stream */
  constructor(upstream: Upstream, stepMs: number) {
    this.upstream = upstream;
    this.#stepMs = stepMs;
    upstream.handle = ({ headers }, response) => {
      upstream.seen.length = 0;
      this.#begin(Number(String(headers['x-forwarded-host']).split(':')[1]), response);
    };
  }

  of(port: number): Account {
    const account = this.#accounts.get(port) ?? { seen: 0, sum: 0, lost: 0 };
    this.#accounts.set(port, account);
    return account;
  }

  /** All gateways together. */
  get total(): Account {
    const total = { seen: 0, sum: 0, lost: 0 };
    for (const { seen, sum, lost } of this.#accounts.values()) {
      total.seen += seen;
      total.sum += sum;
      total.lost += lost;
    }
    return total;
  }

  /** Tokens used, and holds of what is open or lost. */
  get used(): number {
    const { sum, lost } = this.total;
    return sum + (this.open + lost) * HOLD;
  }

  #begin(port: number, response: ServerResponse): void {
    const account = this.of(port);
    account.seen += 1;
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    this.mostUsed = Math.max(this.mostUsed, this.used - this.excess);
    let left = 1 + Math.floor(Math.random() * 4);
    const over = (tokens: number | null): void => {
      this.open -= 1;
      if (tokens === null) account.lost += 1;
      else account.sum += tokens;
      this.excess += Math.max(0, (tokens ?? 0) - HOLD);
    };
    const step = (): void => {
      if (response.destroyed) return;
      if (port === this.silentPort) {
        this.silent.add(response);
        return;
      }
      left -= 1;
      if (left > 0) {
        response.write('data: {"delta":"a"}\n\n');
        setTimeout(step, Math.random() * this.#stepMs);
        return;
      }
      const most = Math.random() * EXCEEDS_EVERY < 1 ? 2 * HOLD : HOLD;
      const tokens = 1 + Math.floor(Math.random() * most);
      over(tokens);
      response.end(figure(tokens));
    };
    response.once('close', () => {
      this.silent.delete(response);
      if (!response.writableEnded) over(null);
    });
    response.writeHead(200, EVENTS).write('data: {"delta":""}\n\n');
    setTimeout(step, Math.random() * this.#stepMs);
  }
}

export interface Load {
  /** Responses so far by status, or by the code of an error; `broken` if the connection broke. */
  readonly tally: ReadonlyMap<string, number>;
  /** Ends once the limit has refused everybody several times in a row, or `stop` was called. */
  readonly done: Promise<unknown>;
  stop(): void;
}

const LAST_REFUSALS = 6;

/** Clients that ask one gateway again and again. */
export function startClients({ url }: Gateway, key: string, clients: number, pauseMs: number): Load {
  const tally = new Map<string, number>();
  let isStopped = false;
  const askOnce = async (): Promise<string> => {
    try {
      const response = await fetch(`${url}/ask`, { method: 'POST', headers: { authorization: `Bearer ${key}` } });
      const text = await response.text();
      return response.ok ? String(response.status) : (JSON.parse(text) as { code: string }).code;
    } catch {
      return 'broken';
    }
  };
  const drain = async (): Promise<void> => {
    for (let refused = 0; refused < LAST_REFUSALS && !isStopped;) {
      const kind = await askOnce();
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
      // A hold that is being settled may leave enough again.
      refused = kind === 'rate_limited' ? refused + 1 : 0;
      if (kind !== '200') await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  };
  return {
    tally,
    done: Promise.all(Array.from({ length: clients }, drain)),
    stop: () => void (isStopped = true),
  };
}

/**
 * What the access log says of admitted requests: tokens of those that were served, how many were not sent because their
 * admission came too late, and how many may have been admitted.
 */
export function logged({ program }: Gateway) {
  const sums = { tokens: 0, notSent: 0, unknown: 0 };
  for (const line of program.output().split('\n')) {
    if (line.includes('"counted":null')) sums.unknown += 1;
    if (!line.includes('"counted":true')) continue;
    const { settled, status } = JSON.parse(line) as Record<'settled' | 'status', number | undefined>;
    if (status === 200) sums.tokens += settled ?? NaN;
    if (status === 503) sums.notSent += 1;
  }
  return sums;
}

/** What the ledger has of one key, or of all: requests and net units. */
export async function ledgerOf(gateway: Gateway, keyId?: string): Promise<{ requests: number; net: number }> {
  const day = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
  const range = `from=${day(Date.now() - 86_400_000)}&to=${day(Date.now())}`;
  const { status, body } = await gateway.admin(
    'GET',
    `/admin/v1/usage?${range}${keyId === undefined ? '' : `&by=key&key=${keyId}`}`,
  );
  if (status !== 200) throw new Error(`no usage: ${status}`);
  const { requests, units, returned } = (body as { totals: Record<string, number> }).totals;
  return { requests: requests!, net: units! - returned! };
}
