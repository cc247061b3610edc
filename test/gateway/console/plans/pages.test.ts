import t from 'tap';
import { openConsole } from '../visitor.js';

t.test('plans are shown with limits and who is on them', async (t) => {
  const { visitor, registry } = await openConsole(t);
  const { get, signIn } = visitor();
  await signIn();
  await registry.create({ name: 'My app', plan: 'free' });
  const { status, text } = await get('/console/plans');
  t.equal(status, 200);
  t.match(text, /<a href="\/console\/keys\?plan=free">1<\/a>/);
  t.match(text, '60 per minute, 1,000 per day');
});
