import t from 'tap';
import type { KeyRegistry } from '../../../../src/gateway/accounts/keys/registry.js';
import { makeToken, parseToken } from '../../../../src/gateway/accounts/token.js';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';
import { keyRecord } from '../../admission/key-record.js';
import { free, judge, openBoth, openRegistry, openStore, refusal, requestWith } from '../store.js';

t.test('a created key is valid on the very next admission', async (t) => {
  const { engine, registry } = openBoth(t);
  const { record, token } = await registry.create({
    plan: 'free',
    name: 'My app',
    note: 'for tests',
    scopes: ['pets:read'],
    expires: '2030-12-05T00:00:00Z',
  });
  t.match(record, {
    plan: 'free',
    name: 'My app',
    note: 'for tests',
    status: 'enabled',
    scopes: ['pets:read'],
    limits: null,
    version: 1,
  });
  t.equal(record.expiresAtMs, Date.UTC(2030, 11, 5));
  t.equal(await judge(engine, token, undefined, 'pets:read'), 'admitted');
  t.equal(await judge(engine, token, undefined, 'pets:write'), 'out of scope');
  t.equal(await judge(engine, token, Date.UTC(2030, 11, 5)), 'expired');
  t.equal(
    await judge(engine, makeToken('staging', record.id).token),
    'unknown',
    'another secret of the same id is not',
  );
});

t.test('revocation, disabling and a plan change hold on the very next admission', async (t) => {
  const { engine, registry } = openBoth(t);
  const { id, token } = await free(registry);
  await registry.change(id, { status: 'disabled' });
  t.equal(await judge(engine, token), 'disabled');
  await registry.change(id, { status: 'enabled', plan: 'pro' });
  const [given] = await engine.admit([requestWith(token)]);
  t.match(given, { outcome: 'admitted', plan: 'pro', windows: { 0: { name: 'minute', limit: 300, remaining: 299 } } });
  await registry.revoke(id);
  t.not(await judge(engine, token), 'admitted');
  t.equal((await registry.get(id)).status, 'revoked', 'the record stays for the ledger');
  t.same((await registry.get(id)).secrets, []);
});

t.test('revoked is final', async (t) => {
  const { registry } = openBoth(t);
  const { id } = await free(registry);
  const revoked = await registry.revoke(id);
  t.equal((await registry.revoke(id)).version, revoked.version, 'again is no error and no change');
  t.equal((await refusal(registry.change(id, { status: 'enabled' }))).kind, 'conflict');
  t.equal((await refusal(registry.rotate(id, 0))).kind, 'conflict');
});

t.test('all problems are told at once, by field, with what was probably meant', async (t) => {
  const { registry } = openBoth(t);
  const { problems, kind } = await refusal(
    registry.create({
      plan: 'por',
      name: ' ',
      note: 5,
      scopes: ['pets:reed'],
      expires: '2020-01-01',
      limits: { minute: 0, day: 5 },
      colour: 'red',
    }),
  );
  t.equal(kind, 'invalid');
  t.same(problems.map((problem) => problem.split(':')[0]).sort(), [
    'expires',
    'limits',
    'name',
    'note',
    'plan',
    'scopes',
    'unknown field "colour"',
  ]);
  t.match(
    problems.find((problem) => problem.startsWith('plan')),
    'did you mean "pro"?',
  );
  t.match(
    problems.find((problem) => problem.startsWith('scopes')),
    'did you mean "pets:read"?',
  );
  t.same((await refusal(registry.create({}))).problems, [
    'plan: is required; or give the customer whose plan the key shares',
    'name: is required',
  ]);
  t.match((await refusal(registry.create({ plan: 'anonymous', name: 'x' }))).message, 'without a key');
});

t.test('bad values are refused, each kind', async (t) => {
  const { registry } = openBoth(t);
  const good = { plan: 'free', name: 'x' };
  const bad: Readonly<Record<string, readonly unknown[]>> = {
    plan: [7, 'constructor', '__proto__'],
    name: ['', 'x'.repeat(101), 'a\nb', 'a\ud800', 'my ptg_staging_key'],
    note: ['x'.repeat(1001)],
    scopes: [[], 'pets:read', [1], ['pets:read', 'pets:read']],
    expires: ['tomorrow', '2030-02-31', '2030-01-01T00:00:00', 5, 1.5e13 + 0.5, 9e15, true],
    status: ['disabled'],
    limits: [{ minute: 5, day: 5 }],
    key: ['an-imported-token-of-others'],
  };
  for (const [field, values] of Object.entries(bad))
    for (const value of values)
      t.equal(
        (await refusal(registry.create({ ...good, [field]: value }))).kind,
        'invalid',
        `${field}: ${String(value)}`,
      );
  const { id } = await free(registry);
  for (const fields of [
    {},
    { status: 'revoked' },
    { status: 'expired' },
    { key: 'x' },
    { id: 'x' },
    { plan: 'enterprise' },
    { limits: { minute: 5, day: 5 } },
  ]) {
    t.equal((await refusal(registry.change(id, fields))).kind, 'invalid', JSON.stringify(fields));
  }
  t.equal((await registry.get(id)).version, 1, 'and nothing was written');
});

t.test('a plan with custom limits asks for them, any other drops them', async (t) => {
  const { engine, registry } = openBoth(t);
  for (const limits of [
    undefined,
    null,
    {},
    { minute: 5 },
    { day: 5 },
    { minute: 5, day: 0 },
    { minute: 1.5, day: 5 },
    { minute: '5', day: 5 },
    { minute: 5, day: 100_000_001 },
    { minute: 5, day: 5, hour: 5 },
    { minute: 5, day: 5, month: 0 },
    { minute: 5, day: 5, month: null },
    [5, 5],
  ]) {
    const body = { plan: 'enterprise', name: 'Big', ...(limits === undefined ? {} : { limits }) };
    t.equal((await refusal(registry.create(body))).kind, 'invalid', JSON.stringify(limits));
  }
  const { record, token } = await registry.create({
    plan: 'enterprise',
    name: 'Big',
    limits: { minute: 5000, day: 'unlimited' },
  });
  t.same(record.limits, { minute: 5000, day: 'unlimited' });
  t.equal(await judge(engine, token), 'admitted');
  const kept = await registry.change(record.id, { name: 'Bigger' });
  t.same(kept.limits, { minute: 5000, day: 'unlimited' }, 'kept while the plan stays');
  const monthly = { minute: 5, day: 'unlimited', month: 40 };
  t.same((await registry.change(record.id, { limits: monthly })).limits, monthly, 'a month too, for who wants it');
  const { problems } = await refusal(registry.change(record.id, { limits: { minute: 3, day: 4, month: 2 } }));
  t.match(problems, [/^limits: minute must be at least 4, the cost of createPet on plan "enterprise"$/, /month/]);
  t.equal((await registry.change(record.id, { plan: 'free' })).limits, null);
  t.equal((await refusal(registry.change(record.id, { plan: 'enterprise' }))).kind, 'invalid', 'and not remembered');
});

t.test('a change that changes nothing writes nothing', async (t) => {
  const { registry } = openBoth(t);
  const { id } = await free(registry);
  t.equal((await registry.change(id, { plan: 'free', name: 'My app', expires: null })).version, 1);
  t.equal((await registry.history(id)).length, 1);
});

t.test('changes at the same time all land', async (t) => {
  const { registry } = openBoth(t);
  const { id } = await free(registry);
  await Promise.all([
    registry.change(id, { name: 'A' }),
    registry.change(id, { note: 'B' }),
    registry.change(id, { plan: 'pro' }),
    registry.rotate(id, 1000),
  ]);
  t.match(await registry.get(id), { name: 'A', note: 'B', plan: 'pro', version: 5 });
  t.equal((await registry.get(id)).secrets.length, 2);
});

t.test('all keys are read some at a time, with other work between', async (t) => {
  const { engine, registry } = openBoth(t);
  await Promise.all(
    Array.from({ length: 600 }, (_, n) => {
      const id = makeToken('staging').id;
      return engine.keys.write(keyRecord(id), { atMs: n, action: 'created', changed: {} });
    }),
  );
  let turns = 0;
  let seen = 0;
  setImmediate(function other() {
    turns += 1;
    setImmediate(other).unref();
  });
  for await (const records of registry.all({})) {
    if (records.length > 250) t.fail(`${records.length} at once`);
    if (seen > 0 && turns === 0) t.fail('in one turn');
    turns = 0;
    seen += records.length;
  }
  t.equal(seen, 600);
});

t.test('history says what changed and holds no secret', async (t) => {
  const { registry } = openBoth(t);
  const { id, token } = await free(registry);
  await registry.change(id, { plan: 'pro', name: 'My app' });
  const { token: second } = await registry.rotate(id, 1000);
  await registry.ban(id, 1000, 'too eager');
  await registry.revoke(id);
  const history = await registry.history(id);
  t.same(history.map(({ action }) => action).sort(), ['banned', 'changed', 'created', 'revoked', 'rotated']);
  t.same(history.find(({ action }) => action === 'changed')?.changed, { plan: { from: 'free', to: 'pro' } });
  const text = JSON.stringify(history);
  for (const secret of [token, second]) {
    t.notMatch(text, secret.slice(-32, -6));
    t.notMatch(text, parseToken(secret, 'staging', false)!.secretHash);
  }
});

t.test('a listing visits every key once, page by page, and filters', async (t) => {
  const { registry } = openBoth(t);
  const made: string[] = [];
  for (let index = 0; index < 25; index += 1) {
    const { record } = await registry.create({ plan: index % 5 === 0 ? 'pro' : 'free', name: `app ${index}` });
    made.push(record.id);
  }
  await registry.revoke(made[1]!);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await registry.list({}, cursor, 7);
    seen.push(...page.records.map(({ id }) => id));
    ({ cursor } = page);
  } while (cursor !== null);
  t.same(seen, [...made].sort());
  t.equal((await registry.list({ plan: 'pro' }, null, 100)).records.length, 5);
  t.same(
    (await registry.list({ status: 'revoked' }, null, 100)).records.map(({ id }) => id),
    [made[1]],
  );
  t.equal((await registry.list({ name: 'app 1' }, null, 100)).records.length, 11);
});

t.test('a search finds any part of name, id or customer in any case, the newest first', async (t) => {
  const { engine } = openStore(t);
  let nowMs = Date.UTC(2026, 10, 1);
  const registry = openRegistry(engine, { clock: () => Promise.resolve((nowMs += 1_000)) });
  const customer = await registry.customers.create({ name: 'ACME Straße', plan: 'free', reference: 'C-77' }, 'test');
  const made: string[] = [];
  for (const name of ['Alpha', 'beta alpha', 'Gamma', 'ALPHABET'])
    made.push((await registry.create({ plan: name === 'Gamma' ? 'pro' : 'free', name })).record.id);
  const { record: hers } = await registry.create({ customer: customer.id, name: 'hers' });
  const found = async (text: string, filter = {}, count = 100): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let cursor: string | null = null; ;) {
      const page = await registry.newest(filter, text, cursor, count);
      ids.push(...page.records.map(({ id }) => id));
      if ((cursor = page.cursor) === null) return ids;
    }
  };
  const [alpha, beta, gamma, alphabet] = made as [string, string, string, string];
  t.same(await found('alpha'), [alphabet, beta, alpha]);
  t.same(await found('alpha', {}, 1), [alphabet, beta, alpha], 'page by page');
  t.same(await found(gamma.slice(3, 9).toUpperCase()), [gamma]);
  for (const text of ['acme', 'STRASSE'.replace('SS', 'ß'), 'c-77', customer.id])
    t.same(await found(text), [hers.id], text);
  t.same(await found(''), [hers.id, alphabet, gamma, beta, alpha]);
  t.same(await found('', { plan: 'pro' }), [gamma]);
  t.same(await found('', { customer: customer.id }), [hers.id]);
  t.same(await found('nobody'), []);
  await registry.change(alpha, { name: 'Omega' });
  t.same(await found('alpha'), [alphabet, beta], 'a change shows immediately');
  const { record: young } = await registry.create({ plan: 'free', name: 'alpha again' });
  t.same(await found('alpha'), [young.id, alphabet, beta]);
  const { records } = await registry.customers.newest({}, 'ACME', null, 10);
  t.same(
    records.map(({ id }) => id),
    [customer.id],
  );
});

t.test('an unknown id is not found, and a whole key is never repeated', async (t) => {
  const { registry } = openBoth(t);
  const { token } = await free(registry);
  for (const id of ['', 'short', 'abcdefghijkl', '../../../../', token]) {
    const error = await refusal(registry.get(id));
    t.equal(error.kind, 'not_found');
    t.notMatch(error.message, token.slice(-20));
  }
});

t.test('a key of another form is brought in where allowed, once', async (t) => {
  const { engine, registry } = openBoth(t, { acceptImported: true });
  const token = 'sk-live-0123456789abcdef';
  const { record, token: shown } = await registry.create({ plan: 'free', name: 'Old app', key: token });
  t.equal(shown, token);
  t.equal(await judge(engine, token), 'admitted');
  t.equal((await registry.history(record.id))[0]?.action, 'imported');
  t.equal((await refusal(registry.create({ plan: 'free', name: 'Again', key: token }))).kind, 'conflict');
  const { token: next } = await registry.rotate(record.id, 60_000);
  t.equal(parseToken(next, 'staging', false)?.id, record.id);
  t.same([await judge(engine, next), await judge(engine, token)], ['admitted', 'admitted']);
  for (const key of ['short', 'ptg_staging_looks_like_ours', makeToken('staging').token, 7]) {
    t.equal((await refusal(registry.create({ plan: 'free', name: 'x', key }))).kind, 'invalid');
  }
});

t.test('a customer that cannot be read keeps no key from a list; an unavailable store does', async (t) => {
  const { engine, registry } = openBoth(t);
  const customer = await registry.customers.create({ name: 'Shop', plan: 'pro' }, 'test');
  const { record } = await registry.create({ customer: customer.id, name: 'app' }, 'test');
  const lone = await free(registry);
  const failing = (error: Error): KeyRegistry => {
    const customers = { ...engine.customers, read: () => Promise.reject(error) };
    return openRegistry(engine, { engine: { ...engine, customers } });
  };
  const damaged = failing(new SyntaxError('damaged'));
  const { records } = await damaged.list({}, null, 10);
  t.same(records.map(({ id }) => id).sort(), [record.id, lone.id].sort());
  await t.rejects(failing(new StoreUnavailable('gone')).list({}, null, 10), StoreUnavailable);
});
