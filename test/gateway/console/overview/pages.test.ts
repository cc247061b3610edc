import t from 'tap';
import { RecentExchanges } from '../../../../src/gateway/observe/recent/memory.js';
import { recallHere } from '../../../../src/gateway/observe/recent/recall.js';
import { ADMITTED } from '../../admission/verdict.js';
import { makeExchange } from '../../exchange.js';
import { openConsole } from '../visitor.js';

const METRICS = `petgate_store_up{engine="embedded"} 0
petgate_bans_active{subject="key"} 12345
petgate_upstream_up_ratio{upstream="<script>"} 1
`;

t.test('the overview says what is wrong, with the runbook, and whether each part can serve', async (t) => {
  const { visitor } = await openConsole(t, {
    metrics: () => Promise.resolve(METRICS),
    ready: () => ({ ready: false, parts: { store: { ok: false, detail: '<b>away</b>' }, config: { ok: true } } }),
  });
  const { get, signIn } = visitor();
  const { text } = await signIn();
  t.match(text, '<a href="/console/runbooks/PetgateStoreAway">');
  t.match(text, '12,345');
  t.match(text, '&lt;script>');
  t.match(text, '&lt;b>away&lt;/b>');
  t.match(text, 'aria-current="page">Overview');
  const part = await get('/console/live');
  t.equal(part.status, 200);
  t.match(part.text, /^<div class="notice warn"/, 'a part of the page alone');
});

t.test('the overview says what goes on now, and how that changed', async (t) => {
  let count = 0;
  const metrics = () => Promise.resolve(`petgate_requests_total{class="2xx"} ${(count += 600)}\n`);
  const { clock, signedIn } = await openConsole(t, { metrics });
  clock.nowMs = Date.UTC(2026, 10, 21, 12);
  const { get } = await signedIn();
  const shown = async (): Promise<string> => (await get('/console/live')).text;
  t.match(await shown(), />10<\/span><svg class="spark"[^]*?up from 0</);
  clock.nowMs += 4 * 60_000;
  t.match(await shown(), />10<\/span><svg class="spark"[^]*?up from 0.77</);
  t.match(await shown(), /p99 latency<\/span><span class="figure">–/, 'nothing was measured');
});

t.test('the overview lists keys near a limit, the fullest first, as of the last minute', async (t) => {
  const { clock, engine, registry, visitor } = await openConsole(t);
  const { get, signIn } = visitor();
  for (const [name, cost] of [
    ['Calm', 10],
    ['Near', 50],
    ['Nearer', 60],
  ] as const) {
    const { record } = await registry.create({ name, plan: 'free' });
    const subject = { kind: 'key', id: record.id, secretHash: record.secrets[0]!.hash } as const;
    await engine.admit([{ subject, operation: 'listPets', scope: null, cost }]);
  }
  await signIn();
  const { text } = await get('/console/live');
  t.match(text, /Near a limit[^]*>Nearer<[^]*100 %[^]*>Near<[^]*83 %/);
  t.notMatch(text, 'Calm');
  const { record } = await registry.create({ name: 'Tardy', plan: 'free' });
  const subject = { kind: 'key', id: record.id, secretHash: record.secrets[0]!.hash } as const;
  await engine.admit([{ subject, operation: 'listPets', scope: null, cost: 60 }]);
  clock.nowMs += 30_000;
  t.notMatch((await get('/console/live')).text, 'Tardy');
  clock.nowMs += 30_000;
  t.match((await get('/console/live')).text, 'Tardy');
});

t.test('a page that is left open does not keep a session from ending', async (t) => {
  const { clock, signedIn } = await openConsole(t);
  const { get } = await signedIn();
  clock.nowMs += 20 * 60_000;
  t.equal((await get('/console/live')).status, 200);
  clock.nowMs += 10 * 60_000;
  t.equal((await get('/console/live')).status, 401);
});

t.test(
  'the overview names who was refused most, and leads to the key; to who may not see keys it does not',
  async (t) => {
    const recent = new RecentExchanges();
    const { ask, visitor, signedIn } = await openConsole(t, { recall: recallHere(recent) });
    const { json } = await ask('POST', '/admin/v1/keys', { plan: 'free', name: '<b>Loud</b>' });
    const { exchange } = makeExchange();
    exchange.logEntry.verdict = { ...ADMITTED, keyId: String(json['id']) };
    recent.note(exchange, 429, 1, true);
    const { signIn, get } = visitor();
    for (const { text } of [await signIn(), await get('/console/live')]) {
      t.match(text, `<a href="/console/keys/${String(json['id'])}">&lt;b>Loud&lt;/b></a>`);
      t.match(text, '>429 of the upstream</td>');
    }
    const billing = await signedIn('billing');
    for (const path of ['/console/', '/console/live']) t.notMatch((await billing.get(path)).text, 'Loud');
  },
);

t.test(
  'the overview shows the range that was asked for, also when it refreshes, and leads to the others',
  async (t) => {
    const { visitor } = await openConsole(t, {
      metrics: () => Promise.resolve('petgate_upstream_up_ratio{upstream="pets"} 0\n'),
    });
    const { signIn, get } = visitor();
    t.match((await signIn()).text, '<h2>The last 15 min</h2>');
    const { text } = await get('/console/?range=7+d');
    t.match(text, '<h2>The last 7 d</h2>');
    t.match(text, '<a href="/console/?range=7+d" aria-current="true">7 d</a>');
    t.match(text, /Upstream “pets”: 0 of 1 up since \d\d:\d\d UTC\./);
    const [, live = ''] = /data-live="([^"]+)"/.exec(text) ?? [];
    t.match((await get(live)).text, '<h2>The last 7 d</h2>');
    t.match((await get('/console/live?range=15+min')).text, '<h2>The last 15 min</h2>', 'not what another saw');
    t.match((await get('/console/?range=%3Cb%3E')).text, '<h2>The last 15 min</h2>');
  },
);

t.test(
  'the overview lists the last changes for operators, with the records that were created; for others not',
  async (t) => {
    const { ask, visitor, signedIn } = await openConsole(t);
    const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'Shop' })).json;
    const { signIn, get } = visitor();
    for (const { text } of [await signIn(), await get('/console/live')]) {
      t.match(text, /Last changes[^]*Create a key/);
      t.match(text, `<a href="/console/keys/${String(id)}">key ${String(id)}</a>`);
    }
    const reader = await signedIn('read');
    for (const path of ['/console/', '/console/live']) t.notMatch((await reader.get(path)).text, 'Last changes');
  },
);

t.test('the overview shows each upstream, those with the most errors first, and one of them alone', async (t) => {
  let count = 0;
  const of = (name: string, errors: number, le: number): string =>
    [
      `petgate_upstream_duration_seconds_bucket{upstream="${name}",le="${le}"} ${count}`,
      `petgate_upstream_duration_seconds_bucket{upstream="${name}",le="+Inf"} ${count}`,
      `petgate_upstream_duration_seconds_count{upstream="${name}"} ${count}`,
      `petgate_upstream_errors_total{upstream="${name}"} ${count * errors}`,
      `petgate_upstream_up_ratio{upstream="${name}"} 1\n`,
    ].join('\n');
  const metrics = () => {
    count += 600;
    return Promise.resolve(`petgate_requests_total{class="2xx"} 9\n${of('pets', 0, 0.05)}${of('store', 0.25, 2.5)}`);
  };
  const { clock, visitor } = await openConsole(t, { metrics });
  clock.nowMs = Date.UTC(2026, 10, 21, 12);
  const { get, signIn } = visitor();
  const { text } = await signIn();
  const row = (name: string, figures: string) =>
    `<a href="[^"]*min&amp;upstream=${name}">${name}</a></th><td[^>]*>1 of 1 up since 12:00 UTC.*?${figures}`;
  t.match(text, new RegExp(`${row('store', '>600<.*?>25 %<.*?>2.5 s<.*?>2.5 s<')}.*${row('pets', '>600<.*>50 ms<')}`));
  const one = (await get('/console/?upstream=store')).text;
  t.match(one, '<h2>The last 15 min, upstream “store”</h2>');
  t.match(one, /5xx<\/span><span class="figure">25 %/);
  t.match(text, '>429</span>');
  t.notMatch(one, '429', 'an upstream has no refusals of the gateway');
  t.match(one, '<a href="/console/?range=15+min">All requests</a>');
  t.match((await get('/console/live?upstream=store')).text, 'upstream “store”');
  t.notMatch((await get('/console/live')).text, 'upstream “store”', 'not what another saw');
  t.match((await get('/console/?upstream=%3Cb%3E')).text, '<h2>The last 15 min</h2>');
});

t.test('Most refused adds up what the keys of a customer were refused', async (t) => {
  const recent = new RecentExchanges();
  const { registry, visitor } = await openConsole(t, { recall: recallHere(recent) });
  const customer = await registry.customers.create({ name: '<i>Shop</i>', plan: 'free' }, 'test');
  for (const [name, times] of Object.entries({ one: 2, other: 3 })) {
    const { record } = await registry.create({ name, customer: customer.id });
    for (let n = 0; n < times; n += 1) {
      const { exchange } = makeExchange();
      exchange.logEntry.verdict = { ...ADMITTED, keyId: record.id };
      recent.note(exchange, 500 + n, 1, true);
    }
  }
  const { text } = await visitor().signIn();
  const link = `<a href="/console/customers/${customer.id}">&lt;i>Shop&lt;/i></a>`;
  t.match(text, `${link}</th><td class="number" data-label="5 minutes">5</td>`);
});
