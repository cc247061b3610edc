import type { ServerResponse } from 'node:http';
import t from 'tap';
import { NO_BAN } from '../servers/plans.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { FLEETS, startFleet } from './fleets.js';

const AT_ONCE = 5;
const PLANS = {
  narrow: { limits: { minute: 100_000, day: 100_000 }, ban: { after: 1 }, concurrency: AT_ONCE },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};
const EVENTS = { 'content-type': 'text/event-stream' };

for (const fleet of FLEETS)
  t.test(
    `streams count for as long as they last, and the upstream never sees one too many (${fleet.what})`,
    async (t) => {
      const upstream = await startUpstream(t);
      const open = new Set<ServerResponse>();
      let most = 0;
      upstream.handle = (_seen, response) => {
        open.add(response.once('close', () => open.delete(response)));
        most = Math.max(most, open.size);
        response.writeHead(200, EVENTS).write('data: begun\n\n');
      };
      const gateways = await startFleet(t, fleet, PLANS, upstream);
      const { key } = await gateways[0]!.createKey({ plan: 'narrow' });
      const statuses = new Map<number, number>();
      const ask = async (n: number): Promise<Response> => {
        const { url } = gateways[n % gateways.length]!;
        const response = await fetch(`${url}/stream`, { headers: { authorization: `Bearer ${key}` } });
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        return response;
      };
      const responses = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(n)));
      t.same([...statuses].sort(), [
        [200, AT_ONCE],
        [429, 30 - AT_ONCE],
      ]);
      const refused = responses.find(({ status }) => status === 429)!;
      t.match(await refused.json(), { code: 'too_many_concurrent', status: 429 });
      t.equal(refused.headers.get('retry-after'), '1');
      t.equal(
        refused.headers.get('ratelimit-policy'),
        `"minute";q=100000;w=60, "day";q=100000;w=86400, "concurrency";q=${AT_ONCE};qu="concurrent-requests"`,
      );
      await Promise.all(responses.filter((each) => each.status === 429 && !each.bodyUsed).map((each) => each.text()));

      // One that ends leaves room for one, whoever asks: no ban, although a single strike would have begun one.
      for (let round = 0; round < 20; round += 1) {
        const [first] = open;
        first!.end('data: over\n\n');
        await until('there is room', async () => {
          const response = await ask(round);
          if (response.status === 429) await response.text();
          return response.status === 200;
        });
        const next = await ask(round + 1);
        t.equal(next.status, 429);
        await next.text();
      }
      t.equal(most, AT_ONCE, 'the upstream saw no more at any moment');
      for (const response of open) response.end();
    },
  );
