import t from 'tap';
import { createAuthorize, type Authorize } from '../../../../src/gateway/admin/access/authorize.js';
import { AdminRefusal } from '../../../../src/gateway/actions/answer.js';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';

const TOKEN = 'operators-only-0123456789';
const nobody = { holderOf: () => Promise.resolve(undefined) };

/** 200 when it passes; else the status, and Retry-After where there is one. */
async function ask(authorize: Authorize, token: string, address = '192.0.2.1'): Promise<string> {
  try {
    await authorize({ header: `Bearer ${token}`, address, access: 'operator' });
    return '200';
  } catch (error) {
    if (!(error instanceof AdminRefusal)) throw error;
    return [error.status, error.headers['Retry-After']].filter((part) => part !== undefined).join(' ');
  }
}

t.test('an empty credential matches nothing, not even an empty token', async (t) => {
  const authorize = createAuthorize('', nobody, () => 0);
  for (const header of ['', 'Bearer', 'Bearer ', 'Bearer \u00a0', 'Basic ', 'Basic Og==', 'Basic dXNlcjo=']) {
    await t.rejects(authorize({ header, address: '192.0.2.1', access: 'any' }), AdminRefusal, header);
  }
});

t.test('wrong tokens of one address are slowed down, and no right one waits for them', async (t) => {
  let nowMs = 1_000;
  const good = {
    id: 'x',
    name: 'cron',
    role: 'operator',
    hash: '',
    createdAtMs: 0,
    createdBy: '',
    expiresAtMs: null,
  } as const;
  const holderOf = (token: string) => Promise.resolve(token === 'right' ? good : undefined);
  const authorize = createAuthorize(TOKEN, { holderOf }, () => nowMs);
  const refused: string[] = [];
  for (let n = 0; n < 11; n += 1) refused.push(await ask(authorize, 'wrong'));
  t.same(refused, [...Array<string>(10).fill('401'), '429 2']);
  for (let n = 0; n < 50; n += 1) {
    await ask(authorize, 'wrong');
    t.equal(await ask(authorize, TOKEN), '200', 'the same address');
  }
  t.equal(await ask(authorize, 'right'), '200', 'one of the store too');
  t.equal(await ask(authorize, 'wrong', '192.0.2.2'), '401', 'another address');
  t.equal(await ask(authorize, 'wrong', '::ffff:192.0.2.1'), '429 2', 'the same one, spelled otherwise');
  nowMs += 1_999;
  t.equal(await ask(authorize, 'wrong'), '429 1', 'what is refused so does not lengthen it');
  nowMs += 1;
  t.equal(await ask(authorize, 'wrong'), '401');
  t.equal(await ask(authorize, 'wrong'), '429 2');
  for (let n = 0; n < 11; n += 1) await ask(authorize, 'wrong', `2001:db8:0:7::${n}`);
  t.match(await ask(authorize, 'wrong', '2001:db8:0:7:ffff::1'), /^429/, 'IPv6 by its /64');
  t.equal(await ask(authorize, 'wrong', '2001:db8:0:8::1'), '401');
});

t.test('while the store is unavailable the root token is good, and nobody is slowed down for it', async (t) => {
  const away = { holderOf: () => Promise.reject(new StoreUnavailable('away')) };
  const authorize = createAuthorize(TOKEN, away, () => 0);
  for (let n = 0; n < 20; n += 1) t.equal(await ask(authorize, 'unknown'), '503 1');
  t.equal(await ask(authorize, TOKEN), '200');
});
