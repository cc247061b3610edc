import t from 'tap';
import type { Test } from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { operator } from '../../operator.js';
import { startReceiver } from './receiver.js';
import { TODAY_MS } from './stage.js';

t.test('the subject is who pays: the reference, else the customer, else the key', async (t: Test) => {
  const { engine, registry, run, request } = await operator(t);
  const receiver = await startReceiver(t);
  const named = await registry.customers.create({ name: 'Big shop', plan: 'pro', reference: 'C-1042, "big"' }, 'x');
  const nameless = await registry.customers.create({ name: 'Small shop', plan: 'pro' }, 'x');
  const made = await Promise.all(
    [{ customer: named.id }, { customer: named.id }, { customer: nameless.id }, { plan: 'pro' }].map((of) =>
      registry.create({ ...of, name: 'x' }),
    ),
  );
  await engine.admit(made.map(({ token }) => request(token, 'listPets', 1, TODAY_MS - 2 * DAY_MS)));
  // One event a request: the next begins where the last key ended, though both pay into one.
  const { code, stderr } = await run('usage', 'push', '--to', receiver.url, '--batch', '1');
  t.equal(code, 0, stderr);
  const ids = made.map(({ record }) => record.id);
  const told = [...receiver.events.values()].map(({ subject, data }) =>
    [subject, data['customer'], data['key']].join(),
  );
  t.same(
    told.sort(),
    [
      ['C-1042, "big"', named.id, ids[0]],
      ['C-1042, "big"', named.id, ids[1]],
      [nameless.id, nameless.id, ids[2]],
      [ids[3], undefined, undefined],
    ]
      .map((parts) => parts.join())
      .sort(),
  );
  t.equal(receiver.repeats, 0);
});
