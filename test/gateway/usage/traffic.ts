import { Pool } from 'undici';

/** What a client saw of one key, plan and operation. */
interface Seen {
  requests: number;
  units: number;
  limited: number;
  banned: number;
  failed: number;
}
type Tally = Map<string, Seen>;

export interface Caller {
  readonly id: string;
  readonly key: string;
  readonly plan: string;
}

interface Kind {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS';
  readonly path: string;
  readonly body?: string;
  /** Costs nothing: stands in no ledger. */
  readonly free?: true;
}

const KINDS: readonly Kind[] = [
  { operation: 'listPets', method: 'GET', path: '/v1/pets?limit=1' },
  { operation: 'createPet', method: 'POST', path: '/v1/pets', body: '{"name":"Rex","categoryId":1}' },
  { operation: 'getPet', method: 'GET', path: '/v1/pets/1' },
  { operation: 'listOrders', method: 'GET', path: '/v1/store/orders' },
  { operation: 'unmatched', method: 'GET', path: '/v1/cats' },
  { operation: 'unmatched', method: 'DELETE', path: '/v1/pets' },
  { operation: 'listPets', method: 'GET', path: '/v1/pets' },
  { operation: 'options', method: 'OPTIONS', path: '/v1/pets', free: true },
  { operation: 'getOpenapi', method: 'GET', path: '/openapi.json', free: true },
];

/** Sends `count` requests over all kinds and callers to the gateways in turn, and adds up what came back. */
export async function sendTraffic(
  urls: readonly string[],
  callers: readonly Caller[],
  count: number,
  connections: number,
): Promise<Tally> {
  const pools = urls.map((url) => new Pool(url, { connections }));
  const tally: Tally = new Map();
  let sent = 0;
  const work = async (): Promise<void> => {
    while (sent < count) {
      const n = sent;
      sent += 1;
      const kind = KINDS[n % KINDS.length]!;
      const caller = callers[(n * 7 + Math.floor(n / KINDS.length)) % callers.length]!;
      // Now and then a key nobody knows, which stands in no ledger either.
      const key = n % 101 === 0 ? `${caller.key.slice(0, -1)}~` : caller.key;
      const { statusCode, body } = await pools[n % pools.length]!.request({
        method: kind.method,
        path: kind.path,
        headers: {
          authorization: `Bearer ${key}`,
          ...(kind.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(kind.body === undefined ? {} : { body: kind.body }),
      });
      const text = await body.text();
      if (key === caller.key && kind.free !== true)
        note(tally, [caller.id, caller.plan, kind.operation].join('\t'), statusCode, text);
      else if (kind.free !== true && statusCode !== 401) throw new Error(`an invalid key got ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connections * pools.length }, work));
  await Promise.all(pools.map((pool) => pool.close()));
  return tally;
}

function note(tally: Tally, name: string, status: number, text: string): void {
  let seen = tally.get(name);
  if (seen === undefined) tally.set(name, (seen = { requests: 0, units: 0, limited: 0, banned: 0, failed: 0 }));
  if (status === 401) throw new Error('a valid key got 401');
  if (status === 429) seen[text.includes('key_banned') ? 'banned' : 'limited'] += 1;
  else {
    seen.requests += 1;
    seen.units += 1;
    if (status >= 500) seen.failed += 1;
  }
}
