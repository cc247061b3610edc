import t from 'tap';
import { overviewPage } from '../../../src/gateway/holder/overview.js';
import { recentOf, type RecentExchange } from '../../../src/gateway/observe/recent/exchange.js';
import { makeExchange } from '../exchange.js';
import type { Overview } from '../../../src/gateway/holder/overview/read.js';

const NOON_MS = Date.parse('2026-11-21T12:00:00Z');
const ODD = '<script>alert("x")</script>';

const OVERVIEW: Overview = {
  record: {
    ...{ id: 'abcdefgh123456', version: 1, plan: '', name: ODD, note: ODD, status: 'enabled', createdAtMs: NOON_MS },
    ...{ expiresAtMs: null, scopes: [ODD], limits: null, secrets: [] },
  },
  verdict: {
    ...{ outcome: 'admitted', keyId: 'abcdefgh123456', recordVersion: 1, plan: ODD, cost: 0, atMs: NOON_MS },
    inScope: true,
    windows: [
      { name: 'minute', per: 'minute', limit: 60, remaining: 58, resetAtMs: NOON_MS + 42_000 },
      { name: 'day', per: 'day', limit: 'unlimited', remaining: 0, resetAtMs: NOON_MS },
    ],
  },
  usage: new Map([
    ['2026-11-21', new Map([[ODD, { requests: 2, units: 1234, returned: 0, limited: 1, banned: 0, failed: 0 }]])],
  ]),
  bill: {
    ...{ currency: 'EUR', base: 3000, included: 1000, overage: 234, amount: 3468, units: 1234, asOfMs: NOON_MS },
    unknown: undefined,
  },
  customer: { name: ODD, keys: [], hasMore: true },
  refusals: { exchanges: [], refused: [], silent: 1 },
  events: [
    { atMs: NOON_MS, actor: 'zoe', action: 'changed', changed: { plan: { from: 'free', to: ODD }, note: 'secret' } },
  ],
};

const page = (mayRotate: boolean): string =>
  overviewPage({
    path: '/account',
    formToken: 'form-token',
    overview: OVERVIEW,
    mayRotate,
    samples: new Map([['curl', ODD]]),
  });

t.test('figures and names are shown, escaped, and nothing of operators', (t) => {
  const text = page(true);
  t.notMatch(text, '<script');
  t.notMatch(text, /zoe|secret"?:|note:/);
  for (const shown of ['in 42 seconds', '1,234', 'unlimited', '34.68 EUR', 'free → ']) t.match(text, shown, shown);
  t.end();
});

t.test('what is owed shows why it is not known, and nothing without a price', (t) => {
  const bill = { ...OVERVIEW, bill: { currency: 'EUR', units: 1, unknown: `no price of ${ODD}`, asOfMs: NOON_MS } };
  const of = (overview: Overview): string =>
    overviewPage({ path: '/account', formToken: 'form-token', overview, mayRotate: false, samples: new Map() });
  t.match(of(bill), 'not known: no price of &lt;script');
  t.match(of({ ...OVERVIEW, bill: 'unknown' }), 'not ready yet');
  t.notMatch(of({ ...OVERVIEW, bill: null }), 'Owed');
  t.end();
});

t.test('refusals alike are one row: how often, the last one, and what to do', (t) => {
  const refused = (id: string): RecentExchange => ({
    ...recentOf(makeExchange().exchange, 429, 1),
    ...{ id, endedMs: NOON_MS, operation: 'listPets', status: 429, code: 'limit_reached' },
    refusal: JSON.stringify({ message: `Retry after 5 seconds ${ODD}` }),
  });
  const failed = { ...refused('third'), status: 404, code: null, refusal: null };
  const exchanges = [refused('first'), refused('second'), failed];
  const overview = { ...OVERVIEW, refusals: { exchanges, refused: [], silent: 0 } };
  const text = overviewPage({
    ...{ path: '/account', formToken: 'x', overview, mayRotate: false, samples: new Map() },
  });
  t.match(
    text,
    />429 limit_reached<\/th><td[^>]*><code>listPets<\/code><\/td><td class="number"[^>]*>2<\/td><td[^>]*>Retry after 5 seconds &lt;/,
  );
  t.match(text, '404 of the API itself');
  t.match(text, '<code>first</code>');
  t.notMatch(text, '<code>second</code>');
  t.end();
});

t.test('a key is rotated by a form, unless the operator switched that off', (t) => {
  t.match(page(true), 'action="/account/rotate"');
  t.notMatch(page(false), 'rotate');
  t.end();
});
