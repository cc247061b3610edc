import t from 'tap';
import { hiddenIn, openConsole } from '../visitor.js';

t.test('bans of keys and addresses are listed, started and lifted', async (t) => {
  const { registry, engine, signedIn } = await openConsole(t);
  const { get, post, submit } = await signedIn();
  const { record } = await registry.create({ name: 'My app', plan: 'free' });
  const started = await submit('/console/bans', '/console/bans/banned', { id: record.id, for: '1h', reason: 'eager' });
  t.match(started.text, `href="/console/keys/${record.id}"`);
  t.match(started.text, 'eager');
  const refused = await submit('/console/bans', '/console/bans/banned', { id: 'nobody', for: '1h' });
  t.match(refused, { status: 400, text: 'Nothing was changed' });
  t.match((await submit('/console/bans', '/console/bans/lifted', { id: record.id })).text, 'No bans in force.');
  t.equal(await engine.bans.read(record.id), undefined);
  const form = hiddenIn((await get('/console/bans')).text, '/console/bans/banned');
  t.match(await post('/console/bans/addresses/lifted', { ...form, id: '192.0.2.1' }), {
    status: 400,
    text: 'No ban of this address is in force.',
  });
});

t.test('addresses are shown to nobody who only reads', async (t) => {
  const { get } = await (await openConsole(t)).signedIn('read');
  const { status, text } = await get('/console/bans');
  t.equal(status, 200);
  t.notMatch(text, /<h2>Addresses|action="\/console\/bans/);
});
