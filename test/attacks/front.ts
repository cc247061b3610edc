import type { Test } from 'tap';
import { ownCertificate } from '../servers/certificate.js';
import type { Target } from '../servers/dial.js';
import type { Field } from '../servers/frames.js';
import { scrape } from '../servers/exposition.js';
import { ADMIN_TOKEN, startGateway, type Gateway, type GatewayOptions } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';

const AMPLE = { minute: 1_000_000, day: 1_000_000 };
/** Plans that never refuse: what these tests see refused is refused for another reason. */
export const AMPLE_PLANS = { free: { limits: AMPLE, ban: NO_BAN }, anonymous: { limits: AMPLE, ban: NO_BAN } };

/** A gateway with a valid key before one upstream. */
export interface Front {
  readonly gateway: Gateway;
  readonly port: number;
  readonly target: Target;
  /** `Authorization: Bearer <valid key>` */
  readonly key: string;
  readonly keyId: string;
  /** The first answer to these bytes. */
  send(bytes: string | Buffer): Promise<RawAnswer>;
  /** A plain good request, to see whether all is still well. */
  good(): Promise<number>;
  inFlight(): Promise<number>;
  /** Resolves when no exchange is under way any more. */
  idle(): Promise<void>;
}

interface FrontOptions extends GatewayOptions {
  /** Settings of the upstream, such as `connections`. */
  readonly pets?: Readonly<Record<string, unknown>>;
  /** Contract and overlays (foreign.ts), in place of the animal store's. */
  readonly foreign?: Readonly<Record<string, unknown>>;
}

export async function startFront(
  t: Test,
  upstreamUrl: string,
  { pets = {}, foreign, config = {}, ...options }: FrontOptions = {},
): Promise<Front> {
  const gateway = await startGateway(t, {
    plans: AMPLE_PLANS,
    ...options,
    config: {
      ...config,
      ...foreign,
      upstreams: { [foreign === undefined ? 'pets' : 'default']: { addresses: [upstreamUrl], ...pets } },
    },
  });
  const made = await gateway.createKey({ plan: 'free' });
  const key = `Authorization: Bearer ${made.key}`;
  const send: Front['send'] = async (bytes) => {
    const [answer] = await exchangeRaw(gateway.target, bytes, 1);
    if (answer === undefined) throw new Error('the connection closed without an answer');
    return answer;
  };
  const inFlight = async (): Promise<number> => {
    const metrics = await scrape(gateway.adminUrl);
    return metrics.value('petgate_exchanges_in_flight') + metrics.value('petgate_exchanges_waiting');
  };
  return {
    gateway,
    port: gateway.port,
    target: gateway.target,
    key,
    keyId: made.id,
    send,
    inFlight,
    good: async () => (await send(request(`GET ${foreign === undefined ? '/v1/pets' : '/users'}`, key))).status,
    idle: () => until('no exchange is under way', async () => (await inFlight()) === 0),
  };
}

/** An upstream and a front over TLS, for HTTP/2; `key` is that of the front as HTTP/2 says it. */
export async function startHttp2Front(
  t: Test,
  options: FrontOptions = {},
): Promise<{ upstream: Upstream; front: Front; key: Field }> {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { ...options, tls: ownCertificate(t) });
  return { upstream, front, key: ['authorization', front.key.replace('Authorization: ', '')] };
}

/** A request head: the line without its version, then fields. */
export function request(line: string, ...fields: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: pets.example', ...fields, '', ''].join('\r\n');
}

/** The sum of a metric's samples, 0 when it has none. */
export async function metricOf(gateway: Gateway, name: string): Promise<number> {
  const text = await (
    await fetch(`${gateway.adminUrl}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  ).text();
  if (!text.includes(`# TYPE ${name} `)) throw new Error(`there is no metric ${name}`);
  const samples = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
