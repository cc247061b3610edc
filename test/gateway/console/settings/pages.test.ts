import t from 'tap';
import { openConsole } from '../visitor.js';

const INFO =
  'petgate_info{version="9.9",node="v20",environment="production",plans="aa11",contract="bb22",settings="cc33"} 1\n';

t.test('each setting is shown with where it comes from, and what runs', async (t) => {
  const { signedIn } = await openConsole(t, { metrics: () => Promise.resolve(INFO) });
  const { get } = await signedIn();
  const { status, text } = await get('/console/settings');
  t.equal(status, 200);
  for (const wanted of [
    '9.9',
    'aa11',
    'bb22',
    'cc33',
    '<code>store.deadline</code>',
    '<code>plans.free.limits.minute</code>',
  ])
    t.match(text, wanted);
  t.match(text, /gateway\.yaml:\d+/);
  t.match(text, /<a href="#store">store<\/a>.*<section id="store"><h2>store<.*store\.deadline.*<section id="plans">/);
  const found = (await get('/console/settings?search=DeadLine')).text;
  t.match(found, 'store.deadline');
  t.notMatch(found, 'plans.free');
  t.match((await get('/console/settings?search=%3Cb%3E')).text, /value="&lt;b>".*No matches\./);
});
