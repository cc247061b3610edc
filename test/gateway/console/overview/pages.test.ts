import t from 'tap';
import { openConsole } from '../visitor.js';

t.test('the overview says, part by part, whether the gateway can serve', async (t) => {
  const { visitor } = await openConsole(t, {
    ready: () => ({ ready: false, parts: { store: { ok: false, detail: '<b>away</b>' }, config: { ok: true } } }),
  });
  const { text } = await visitor().signIn();
  t.match(text, '&lt;b>away&lt;/b>');
  t.match(text, 'not ready');
  t.match(text, 'aria-current="page">Overview');
});
