import type { Test } from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import type { RawAnswer } from '../servers/raw.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { openClient, type Client } from './client.js';
import { day } from './ledger.js';

export const REQUESTS = 400;
/** Longer, and a second minute opens and admits again. */
const LONGEST_MS = 50_000;
const ATTEMPTS = 3;

export interface Front {
  readonly gateways: readonly Gateway[];
  readonly clients: readonly Client[];
  readonly upstream: Upstream;
}

/** So many gateways on one store, each with a client that asks as much at once as is its part of a volley. */
export async function openFront(
  t: Test,
  count: number,
  plans: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string>>,
): Promise<Front> {
  const upstream = await startUpstream(t);
  // The machine may be busy: a verdict that comes late must not look like a store that is unavailable.
  const config = { store: { deadline: '10s' }, upstreams: { pets: { addresses: [upstream.url] } } };
  const gateways = await Promise.all(
    Array.from({ length: count }, () => startGateway(t, { plans, config, environment })),
  );
  const clients = gateways.map(({ url }) => openClient(t, url, Math.ceil(REQUESTS / count)));
  return { gateways, clients, upstream };
}

/**
 * All requests at once, with what `make` makes for them; once more when they met a midnight or took too long.
 * @param ask sends the request of that number
 */
export async function volley<Made>(
  make: () => Promise<Made>,
  ask: (made: Made, n: number) => Promise<RawAnswer>,
): Promise<{ made: Made; answers: readonly RawAnswer[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const made = await make();
    const beganMs = Date.now();
    const answers = await Promise.all(Array.from({ length: REQUESTS }, (_, n) => ask(made, n)));
    const isLate = Date.now() - beganMs > LONGEST_MS || day(beganMs) !== day(Date.now());
    if (!isLate || attempt === ATTEMPTS) return { made, answers };
  }
}

export interface Spent {
  readonly requests: number;
  readonly units: number;
}

/** What the access logs of all gateways say was counted for keys whose id begins so. */
export function logged({ gateways }: Front, id: string): Spent {
  const lines = gateways
    .flatMap(({ program }) => program.lines())
    .filter(({ msg, key, counted }) => msg === 'exchange' && counted === true && String(key).startsWith(id));
  return { requests: lines.length, units: lines.reduce((sum, { units }) => sum + Number(units), 0) };
}
