import t from 'tap';
import { openConsole } from '../visitor.js';

const METRICS = `petgate_store_up{engine="embedded"} 0
petgate_bans_active{subject="key"} 12345
petgate_limited_total{plan="<script>",window="day"} 3
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

t.test('a page that is left open does not keep a session from ending', async (t) => {
  const { clock, visitor } = await openConsole(t);
  const { get, signIn } = visitor();
  await signIn();
  clock.nowMs += 20 * 60_000;
  t.equal((await get('/console/live')).status, 200);
  clock.nowMs += 10 * 60_000;
  t.equal((await get('/console/live')).status, 401);
});
