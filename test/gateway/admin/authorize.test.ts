import t from 'tap';
import { createAuthorize } from '../../../src/gateway/admin/authorize.js';
import type { Authorize } from '../../../src/gateway/admin/authorize.js';
import { AdminRefusal } from '../../../src/gateway/admin/answer.js';

const TOKEN = 'operators-only-0123456789';

/** 200 when it passes; else the status, and Retry-After where there is one. */
function ask(authorize: Authorize, token: string, address = '192.0.2.1'): string {
  try {
    authorize({ header: `Bearer ${token}`, address, browser: false });
    return '200';
  } catch (error) {
    if (!(error instanceof AdminRefusal)) throw error;
    return [error.status, error.headers['Retry-After']].filter((part) => part !== undefined).join(' ');
  }
}

t.test('an empty credential matches nothing, not even an empty token', (t) => {
  const authorize = createAuthorize('', () => 0);
  for (const header of ['', 'Bearer', 'Bearer ', 'Bearer \u00a0', 'Basic ', 'Basic Og==', 'Basic dXNlcjo=']) {
    t.throws(() => authorize({ header, address: '192.0.2.1', browser: true }), AdminRefusal, header);
  }
  t.end();
});

t.test('wrong tokens of one address are slowed down, and nobody else waits for them', (t) => {
  let nowMs = 1_000;
  const authorize = createAuthorize(TOKEN, () => nowMs);
  for (let n = 0; n < 50; n += 1) t.equal(ask(authorize, TOKEN), '200', 'right ones are not counted');
  t.same(
    Array.from({ length: 11 }, () => ask(authorize, 'wrong')),
    [...Array<string>(10).fill('401'), '429 2'],
  );
  t.equal(ask(authorize, TOKEN, '192.0.2.2'), '200', 'another address');
  t.equal(ask(authorize, TOKEN, '::ffff:192.0.2.1'), '429 2', 'the same one, spelled otherwise');
  nowMs += 1_999;
  t.equal(ask(authorize, 'wrong'), '429 1', 'what is not compared does not lengthen it');
  nowMs += 1;
  t.equal(ask(authorize, 'wrong'), '401');
  t.equal(ask(authorize, 'wrong'), '429 2');
  nowMs += 2_000;
  t.equal(ask(authorize, TOKEN), '200');
  t.equal(ask(authorize, TOKEN), '200', 'as often as it likes');
  for (let n = 0; n < 11; n += 1) ask(authorize, 'wrong', `2001:db8:0:7::${n}`);
  t.match(ask(authorize, TOKEN, '2001:db8:0:7:ffff::1'), /^429/, 'IPv6 by its /64');
  t.equal(ask(authorize, TOKEN, '2001:db8:0:8::1'), '200');
  t.end();
});
