import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { petgate } from '../cli/programs.js';
import { ADMIN_TOKEN, type Gateway } from '../servers/gateway.js';
import type { RawAnswer } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { openClient, type Client } from './client.js';
import { ledgerOf } from './ledger.js';
import { startPair } from './pair.js';

/** One request a minute, and the third refusal starts a ban of three seconds. */
const PLANS = {
  hasty: { limits: { minute: 1, day: 1000 }, ban: { after: 3, for: '3s' } },
  stubborn: { limits: { minute: 1, day: 1000 }, ban: { after: 3 } },
  wide: { limits: { minute: 1000, day: 1000 }, ban: { after: 3 } },
  gratis: { limits: { minute: 60, day: 1 }, ban: { after: 1000 }, operations: { listPets: { cost: 0 } } },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: { after: 150 } },
};

interface Pair {
  readonly a: Gateway;
  readonly b: Gateway;
  readonly toA: Client;
  readonly toB: Client;
}

async function openPair(t: Test): Promise<Pair> {
  const [a, b] = await startPair(t, PLANS);
  return { a, b, toA: openClient(t, a.url, 1), toB: openClient(t, b.url, 1) };
}

interface Ban {
  readonly untilMs: number;
  readonly level: number;
}

async function banOf(gateway: Gateway, id: string): Promise<Ban | null> {
  const { status, body } = await gateway.admin('GET', `/admin/v1/bans/${id}`);
  if (status !== 200) return null;
  const { until: end, level } = body as { until: string; level: number };
  return { untilMs: Date.parse(end), level };
}

const outcome = (answer: RawAnswer): string => (answer.status === 200 ? '200' : codeOf(answer));

t.test(
  'a ban starts after the configured refusals, holds on the other gateway, ends by itself, and doubles',
  async (t) => {
    const { a, b, toA, toB } = await openPair(t);
    const { id, key } = await a.createKey({ plan: 'hasty' });
    t.equal(outcome(await toA.send(key)), '200', 'the one request of the minute');
    t.equal(outcome(await toB.send(key)), 'rate_limited', 'the first refusal only refuses');
    t.equal(outcome(await toA.send(key)), 'rate_limited', 'the second, by the other gateway, too');
    t.equal(await banOf(b, id), null, 'no ban so far');
    const sentMs = Date.now();
    const third = await toB.send(key);
    const answeredMs = Date.now();
    t.equal(outcome(third), 'key_banned', 'the third starts the ban');
    checkHonest(t, third, 'the refusal that starts the ban');
    const onA = await toA.send(key);
    t.equal(outcome(onA), 'key_banned', 'the very next request on the other gateway meets it');
    checkHonest(t, onA, 'while banned');

    const first = await banOf(a, id);
    t.equal(first?.level, 1);
    const beganMs = (first?.untilMs ?? 0) - 3000;
    // Two processes read the clock, in whole milliseconds.
    t.ok(beganMs >= sentMs - 5 && beganMs <= answeredMs + 5, 'it lasts 3 s', { beganMs, sentMs, answeredMs });
    let during = 0;
    await until('the ban is over', async () => {
      const answer = outcome(await (during % 2 === 0 ? toA : toB).send(key));
      if (answer === 'rate_limited') return true;
      during += 1;
      if (answer !== 'key_banned') throw new Error(`unexpected: ${answer}`);
      const now = await banOf(b, id);
      if (now !== null) t.equal(now.untilMs, first!.untilMs, 'a request during the ban does not lengthen it');
      return false;
    });
    t.ok(during > 0, `${during} requests were made while it held`);
    t.ok(Date.now() >= first!.untilMs - 2, 'it held to its end');
    t.equal(await banOf(b, id), null, 'it is listed no more');

    t.equal(outcome(await toB.send(key)), 'rate_limited', 'refusals count from the beginning: this is the second');
    const askedMs = Date.now();
    t.equal(outcome(await toA.send(key)), 'key_banned', 'the third starts the next ban');
    const bannedMs = Date.now();
    const second = await banOf(b, id);
    t.equal(second?.level, 2);
    const againMs = (second?.untilMs ?? 0) - 6000;
    t.ok(againMs >= askedMs - 5 && againMs <= bannedMs + 5, 'which lasts twice as long', { second, bannedMs });
    t.equal(outcome(await toB.send(key)), 'key_banned');

    const { requests, limited, banned } = await ledgerOf(a, id);
    t.equal(requests, 1, 'one admitted request was paid for, and no refusal');
    t.equal(limited + banned, 2 + 2 + during + 2 + 2, 'every refusal stands in the ledger');
  },
);

t.test('a ban that is lifted ends at once on both gateways', async (t) => {
  const { a, b, toA, toB } = await openPair(t);
  const { id, key } = await a.createKey({ plan: 'stubborn' });
  for (const client of [toA, toB, toA, toB]) await client.send(key);
  t.equal(outcome(await toA.send(key)), 'key_banned');
  t.equal(outcome(await toB.send(key)), 'key_banned');
  t.ok((await banOf(b, id))!.untilMs > Date.now() + 240_000, 'for minutes');
  t.equal((await a.admin('PATCH', `/admin/v1/keys/${id}`, { plan: 'wide' })).status, 200);
  t.equal(outcome(await toB.send(key)), 'key_banned', 'a larger plan does not end it');

  const lifted = await petgate(['--admin-url', a.adminUrl, 'bans', 'lift', id], {
    PATH: process.env['PATH'],
    PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  t.equal(lifted.code, 0, `petgate bans lift: ${lifted.stderr}`);
  t.equal(outcome(await toB.send(key)), '200', 'the very next request on the other gateway passes');
  t.equal(outcome(await toA.send(key)), '200');
  t.equal(await banOf(b, id), null);
});

t.test('an address whose ban is lifted is served at once, on both gateways and all their workers', async (t) => {
  const [a, b] = await startPair(t, { ...PLANS, anonymous: { limits: { minute: 2, day: 1000 }, ban: { after: 3 } } });
  const clients = [a, b].flatMap(({ url }) => [openClient(t, url, 1), openClient(t, url, 1)]);
  for (const client of [...clients, ...clients]) await client.send(null);
  for (const client of clients) t.equal(outcome(await client.send(null)), 'address_banned');
  const run = (...args: readonly string[]) =>
    petgate(['--admin-url', a.adminUrl, 'bans', ...args], {
      PATH: process.env['PATH'],
      PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    });
  await until('it is listed', async () => /127\.0\.0\.1/.test((await run('list', '--addresses')).stdout));
  t.match(await run('list', '--addresses', '--json'), { code: 0, stdout: '"address": "127.0.0.1"' });
  t.match(await run('lift', '127.0.0.1'), { code: 0, stdout: 'The ban of 127.0.0.1 is lifted.' });
  // Its minute is spent: it is refused for that, and no more for the ban.
  t.equal(outcome(await clients.at(-1)!.send(null)), 'rate_limited');
  t.equal(outcome(await clients[0]!.send(null)), 'rate_limited');
  t.match(await run('list', '--addresses'), { code: 0, stdout: 'No bans of addresses.' });
});

t.test('a ban closes what costs nothing too, but for what the gateway answers itself', async (t) => {
  const { a, b, toA, toB } = await openPair(t);
  const { id, key } = await a.createKey({ plan: 'gratis', scopes: ['pets:read'] });
  const put = { method: 'PUT', path: '/v1/pets' } as const;
  t.equal(outcome(await toA.send(key, put)), 'method_not_allowed', 'which costs the one token of the day');
  t.equal(outcome(await toB.send(key)), '200', 'free, whatever is left');
  t.equal((await a.admin('PUT', `/admin/v1/bans/${id}`, { for: '300s' })).status, 200);
  for (const client of [toA, toB]) {
    const refused = await client.send(key);
    t.equal(outcome(refused), 'key_banned');
    checkHonest(t, refused, 'free, and banned');
    t.ok(Number(refused.headers.get('retry-after')) <= 300, 'until the ban ends; the day has no part in it');
    t.equal(outcome(await client.send(key, { path: '/v1/usage' })), '200');
  }
  const metrics = await fetch(`${b.adminUrl}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  t.match(await metrics.text(), /petgate_banned_total\{plan="gratis"\} 1\n/, 'and the metric counts it');
});
