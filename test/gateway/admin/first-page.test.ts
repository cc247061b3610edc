import t from 'tap';
import { openConsole } from '../console/visitor.js';
import { ADMIN_TOKEN } from './listener.js';

t.test('a browser at / is led to the console; a program is told that nothing is there', async (t) => {
  const { ask } = await openConsole(t);
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const led = await ask('GET', '/', undefined, { accept: 'text/html,*/*;q=0.8' });
  t.equal(led.status, 302);
  t.equal(led.headers.location, '/console/');
  for (const accept of ['*/*', 'application/json']) {
    t.equal((await ask('GET', '/', undefined, { accept })).status, 401, accept);
    t.equal((await ask('GET', '/', undefined, { accept, authorization })).status, 404, accept);
  }
  t.equal((await ask('POST', '/', undefined, { accept: 'text/html', authorization })).status, 404);
});
