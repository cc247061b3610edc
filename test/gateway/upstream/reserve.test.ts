import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../../answers/honest.js';
import { request, startFront, type Front } from '../../attacks/front.js';
import { ledgerOf } from '../../e2e/ledger.js';
import { scrape } from '../../servers/exposition.js';
import { NO_BAN } from '../../servers/plans.js';
import { openLine, type Line } from '../../servers/raw.js';
import { startUpstream, type Upstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';

/** One connection, and four that wait for it. */
const PLACES = 5;
const PLANS = {
  free: { limits: { minute: 1_000, day: 1_000 }, ban: NO_BAN },
  once: { limits: { minute: 1_000, day: 1 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1_000, day: 1_000 }, ban: NO_BAN },
};

interface Stage {
  readonly service: Upstream;
  readonly front: Front;
  /** What the service has not answered. */
  readonly held: ServerResponse[];
  /** The code of a refusal, else the status, and how much of the day is left then. */
  readonly ask: (key?: string) => Promise<readonly [string, number]>;
  readonly counted: () => Promise<number>;
}

/** A service that keeps every request until it is told to answer. */
async function setUp(t: Test, pets: Readonly<Record<string, unknown>> = {}): Promise<Stage> {
  const service = await startUpstream(t);
  const front = await startFront(t, service.url, {
    plans: PLANS,
    pets: { connections: 1, deadline: '60s', ...pets },
  });
  const held: ServerResponse[] = [];
  service.handle = (_seen, response) => void held.push(response);
  const ask: Stage['ask'] = async (key = front.key) => {
    const answer = await front.send(request('GET /v1/pets', key));
    checkHonest(t, answer, String(answer.status));
    const end = answer.status < 400 ? String(answer.status) : codeOf(answer);
    return [end, Number(/"day";r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1])];
  };
  return { service, front, held, ask, counted: async () => (await ledgerOf(front.gateway, front.keyId)).requests };
}

function answerAll({ service, held }: Stage): void {
  service.handle = (_seen, response) => response.end('[]');
  for (const response of held.splice(0)) response.end('[]');
}

t.test('what finds no place at its upstream costs nothing, also of many at once', async (t) => {
  const stage = await setUp(t);
  const { front, ask, counted } = stage;
  const asked = Array.from({ length: 100 }, () => ask());
  await until('all but five are refused', async () => (await front.inFlight()) === PLACES);
  t.equal(await counted(), PLANS.free.limits.day - (await ask())[1], 'the figures are those of the ledger');
  t.equal(await counted(), PLACES, 'which has those that wait');
  answerAll(stage);
  const ends = (await Promise.all(asked)).map(([end]) => end);
  t.equal(ends.filter((end) => end === 'overloaded').length, 100 - PLACES);
  t.equal(ends.filter((end) => end === '200').length, PLACES);
  t.same(await ask(), ['200', PLANS.free.limits.day - PLACES - 1]);
  t.match(await ledgerOf(front.gateway, front.keyId), { requests: PLACES + 1, failed: 0 });
  const metrics = await scrape(front.gateway.adminUrl);
  t.equal(metrics.value('petgate_upstream_failures_total', { upstream: 'pets', kind: 'full' }), 100 - PLACES + 1);
});

t.test('who is refused leaves the place to others, and learns nothing of the upstream', async (t) => {
  const stage = await setUp(t);
  const { front, ask } = stage;
  const { key: spent } = await front.gateway.createKey({ plan: 'once' });
  await front.send(request('PUT /v1/pets', `Authorization: Bearer ${spent}`));
  const { key: narrow } = await front.gateway.createKey({ plan: 'free', scopes: ['pets:write'] });
  const { key: banned, id } = await front.gateway.createKey({ plan: 'free' });
  await front.gateway.admin('PUT', `/admin/v1/bans/${id}`, { for: '1h' });
  const everybody = [
    [`Authorization: Bearer ${spent}`, 'rate_limited'],
    [`Authorization: Bearer ${narrow}`, 'insufficient_scope'],
    [`Authorization: Bearer ${banned}`, 'key_banned'],
    [`Authorization: Bearer ${spent.slice(0, -6)}aaaaaa`, 'invalid_api_key'],
    ['Accept: */*', 'missing_api_key'],
  ] as const;
  for (const [key, code] of everybody)
    t.same(
      (await Promise.all(Array.from({ length: 12 }, () => ask(key)))).map(([end]) => end),
      Array<string>(12).fill(code),
    );
  const waiting = Array.from({ length: PLACES }, () => ask());
  await until('all places are taken', async () => (await front.inFlight()) === PLACES);
  for (const [key, code] of everybody.slice(1)) t.equal((await ask(key))[0], code, 'also when it is full');
  answerAll(stage);
  t.same(
    (await Promise.all(waiting)).map(([end]) => end),
    Array<string>(PLACES).fill('200'),
  );
});

t.test('while its breaker is open nothing is charged, but for the one trial', async (t) => {
  const stage = await setUp(t, { breaker: { failures: 1, open: '1h', cap: '1h' } });
  const { service, ask, counted } = stage;
  service.handle = (_seen, response) => response.destroy();
  t.equal((await ask())[0], 'upstream_unavailable', 'once more is too much');
  const before = await counted();
  const ends = await Promise.all(Array.from({ length: 50 }, () => ask()));
  t.same(new Set(ends.map(([end]) => end)), new Set(['upstream_unavailable']));
  t.same(new Set(ends.map(([, left]) => left)), new Set([PLANS.free.limits.day - before]));
  t.equal(await counted(), before);
});

t.test('of many that come when a trial is due one is charged, and it is the trial', async (t) => {
  const stage = await setUp(t, { connections: 40, breaker: { failures: 1, open: '100ms', cap: '1h' } });
  const { service, ask, counted, held } = stage;
  service.handle = (_seen, response) => response.destroy();
  await ask();
  service.handle = (_seen, response) => void held.push(response);
  const before = { counted: await counted(), seen: service.seen.length };
  let asked: Promise<readonly [string, number]>[] = [];
  await until('a trial is under way', async () => {
    const now = Array.from({ length: 20 }, () => ask());
    asked = [...asked, ...now];
    await Promise.race([Promise.allSettled(now.slice(1)), until('it is there', () => held.length > 0)]);
    return held.length > 0;
  });
  await until('all others are refused', async () => (await stage.front.inFlight()) === held.length);
  answerAll(stage);
  const served = (await Promise.all(asked)).filter(([end]) => end === '200').length;
  t.equal(served, service.seen.length - before.seen);
  t.equal(await counted(), before.counted + served);
});

t.test('a body that is slow keeps no place, and is sent on when it came though all are taken', async (t) => {
  const stage = await setUp(t);
  const { front, ask, counted } = stage;
  const fields = [front.key, 'Content-Type: application/json', 'Content-Length: 2'];
  const slow: Line[] = [];
  while (slow.length < 2 * PLACES) {
    slow.push(openLine(t, front.target, `${request('POST /v1/pets', ...fields)}{`));
    await until('it is admitted', async () => (await counted()) === slow.length);
  }
  const quick = Array.from({ length: PLACES }, () => ask());
  await until('the quick ones have the places', async () => (await counted()) === slow.length + PLACES);
  t.equal((await ask())[0], 'overloaded');
  for (const { socket } of slow) socket.write('}');
  answerAll(stage);
  await until('each has its answer', () => slow.every(({ text }) => text().startsWith('HTTP/1.1 200')));
  t.same(
    (await Promise.all(quick)).map(([end]) => end),
    Array<string>(PLACES).fill('200'),
  );
  t.match(await ledgerOf(front.gateway, front.keyId), { requests: slow.length + PLACES, failed: 0 });
});
