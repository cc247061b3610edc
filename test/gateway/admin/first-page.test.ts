import t from 'tap';
import { ADMIN_TOKEN, listen } from './listener.js';

t.test('a browser at / is led to the usage page; a program is told that nothing is there', async (t) => {
  const { ask } = await listen(t);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const led = await ask('GET', '/', undefined, { accept: 'text/html,*/*;q=0.8' });
  t.equal(led.status, 302);
  t.equal(led.headers.location, '/admin/usage');
  t.equal((await ask('GET', '/admin/usage', undefined, { accept: 'text/html', authorization })).status, 200);
  for (const accept of ['*/*', 'application/json']) {
    t.equal((await ask('GET', '/', undefined, { accept })).status, 401, accept);
    t.equal((await ask('GET', '/', undefined, { accept, authorization })).status, 404, accept);
  }
  t.equal((await ask('POST', '/', undefined, { accept: 'text/html', authorization })).status, 404);
});
