import t from 'tap';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import { reasonsAgainst, type HeldKey } from '../../../src/gateway/accounts/state.js';
import { keyRecord } from '../admission/key-record.js';
import { listen } from '../admin/listener.js';
import { PLANS } from '../../conformance/cast.js';

const NOW_MS = 10 * DAY_MS;
const BAN = { keyId: 'k', untilMs: NOW_MS + 1, level: 1, note: null };

t.test('the first reason is the one that a gateway refuses by', (t) => {
  for (const [changes, ban, reasons] of [
    [{}, undefined, []],
    [{}, BAN, ['banned']],
    [{ expiresAtMs: NOW_MS + 1 }, undefined, []],
    [{ expiresAtMs: NOW_MS }, undefined, ['expired']],
    [{ plan: 'gone' }, BAN, ['plan_gone', 'banned']],
    [{ plan: 'enterprise' }, undefined, ['plan_gone']],
    [{ plan: 'enterprise', limits: { minute: 1, day: 1 } }, undefined, []],
    [{ customerStatus: 'disabled' }, undefined, ['customer_disabled']],
    [{ customerStatus: 'closed', plan: 'gone' }, undefined, ['customer_closed', 'plan_gone']],
    [{ status: 'disabled', expiresAtMs: 1 }, BAN, ['disabled', 'expired', 'banned']],
    [{ status: 'revoked', customerStatus: 'closed' }, undefined, ['revoked', 'customer_closed']],
  ] as readonly (readonly [Partial<HeldKey>, typeof BAN | undefined, readonly string[]])[])
    t.same(
      reasonsAgainst({ ...keyRecord('k'), ...changes }, ban, PLANS, NOW_MS),
      reasons,
      JSON.stringify([changes, ban]),
    );
  t.end();
});

t.test(
  'a key shows its state, the ban with its reason, and what its customer and its plan have to do with it',
  async (t) => {
    const plans = new Map(PLANS);
    const { ask } = await listen(t, {}, { plans: () => plans });
    const made = async (path: string, body: object) => String((await ask('POST', path, body)).json['id']);
    const customer = await made('/admin/v1/customers', { name: 'shop', plan: 'pro' });
    const [own, its] = [
      await made('/admin/v1/keys', { plan: 'free', name: 'own' }),
      await made('/admin/v1/keys', { customer, name: 'its' }),
    ];
    const stateOf = async (id: string): Promise<unknown> => {
      const { state, reasons, ban } = (await ask('GET', `/admin/v1/keys/${id}`)).json;
      const { keys } = (await ask('GET', '/admin/v1/keys')).json as { keys: readonly { id: string; state: string }[] };
      t.equal(keys.find((key) => key.id === id)?.state, state, 'as the list says');
      return [state, reasons, ban];
    };
    t.same(await stateOf(own), ['enabled', [], null]);
    const ban = (await ask('PUT', `/admin/v1/bans/${own}`, { for: '1h', reason: 'too eager' })).json;
    t.match(ban, { by: 'admin-api', reason: 'too eager' });
    t.same(await stateOf(own), ['banned', ['banned'], ban]);
    t.match((await ask('POST', `/admin/v1/keys/${own}/rotate`)).json, { state: 'banned', ban });
    plans.delete('free');
    t.same(await stateOf(own), ['plan_gone', ['plan_gone', 'banned'], ban]);
    await ask('PATCH', `/admin/v1/keys/${own}`, { status: 'disabled' });
    t.same(await stateOf(own), ['disabled', ['disabled', 'plan_gone', 'banned'], ban]);

    await ask('PATCH', `/admin/v1/customers/${customer}`, { status: 'disabled' });
    t.same(await stateOf(its), ['customer_disabled', ['customer_disabled'], null]);
    await ask('DELETE', `/admin/v1/customers/${customer}`);
    t.same(await stateOf(its), ['customer_closed', ['customer_closed'], null]);
    await ask('DELETE', `/admin/v1/keys/${its}`);
    t.same(await stateOf(its), ['revoked', ['revoked', 'customer_closed'], null]);
  },
);
