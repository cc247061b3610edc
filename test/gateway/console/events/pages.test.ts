import t from 'tap';
import { hiddenIn, openConsole } from '../visitor.js';

const PAGE = '/console/events';

t.test('events are listed by state, and delivered again from the page', async (t) => {
  const { ask, signedIn } = await openConsole(t, {}, { emitsEvents: true });
  await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'One' });
  const { get, submit } = await signedIn();
  const { text } = await get(PAGE);
  const { event = '' } = hiddenIn(text, PAGE);
  t.match(event, /^[0-9A-Za-z]{12}-/);
  t.match(text, 'petgate.key.created');
  t.match(text, /<a href="\/console\/keys\/\w{12}">/, 'with what it is about');
  t.match(await submit(PAGE, PAGE), { status: 200, text: 'It is delivered again now.' });
  t.match((await get(`${PAGE}?state=dead`)).text, 'No event is dead.');
  t.match(await get(`${PAGE}?state=odd`), { status: 400, text: 'must be one of' });
  t.match(await submit(PAGE, PAGE, { event: 'nothing' }), { status: 409, text: 'No event of this id' });
});

t.test('without a webhook the page says so; who may only read is offered nothing', async (t) => {
  const { get, post } = await (await openConsole(t)).signedIn('read');
  const { text } = await get(PAGE);
  t.match(text, 'No webhook is configured');
  t.notMatch(text, 'Redeliver');
  t.match(await post(PAGE, { event: 'x' }), { status: 403, text: 'the role keys or operator' });
});
