import t from 'tap';
import { AdminTokens } from '../../../../src/gateway/actions/access/tokens.js';
import { AdminRefusal } from '../../../../src/gateway/actions/answer.js';
import { History, IssuedKey, KeyPage } from '../../../../src/gateway/actions/schemas.js';
import type { Role } from '../../../../src/gateway/store/records/admin-token.js';
import { AdminApi, problemsOf } from '../../../../src/gateway/console/visit/api.js';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';
import { KeyRefused } from '../../../../src/gateway/accounts/refused.js';
import { openConsole, type Console } from '../visitor.js';

function apiOf({ parts }: Console, role: Role): AdminApi {
  const tokens = new AdminTokens(parts.engine.tokens, () => parts.registry.nowMs());
  return new AdminApi({ parts, tokens }, { name: 'Eve', role }, 'Eve');
}

t.test('a page asks the routes of the admin API, in its visitor’s name and with its role', async (t) => {
  const console = await openConsole(t);
  const api = apiOf(console, 'keys');
  const made = await api.ask(IssuedKey, 'POST /admin/v1/keys', { body: { plan: 'free', name: 'One' } });
  t.match(made.key, /^ptg_/);
  const { keys } = await api.ask(KeyPage, 'GET /admin/v1/keys', { query: { limit: '1', plan: '', name: undefined } });
  t.match(keys, [{ id: made.id, name: 'One' }]);
  const { history } = await api.ask(History, 'GET /admin/v1/keys/{id}/history', { id: made.id });
  t.match(history, [{ actor: 'Eve', action: 'created' }]);
  t.match(console.logged(), '"msg":"admin change"');
  t.notOk(api.may('GET /admin/v1/usage'));
  t.ok(apiOf(console, 'billing').may('GET /admin/v1/usage'));
  await t.rejects(api.answer('GET /admin/v1/usage'), { status: 403, message: /role billing or operator/ });
});

t.test('what a person can put right is shown beside the form; the rest is none of it', (t) => {
  t.strictSame(problemsOf(new KeyRefused('invalid', ['a: b', 'c: d'])), ['a: b', 'c: d']);
  t.strictSame(problemsOf(new AdminRefusal(404, 'not_banned', 'No ban.')), ['No ban.']);
  for (const error of [new AdminRefusal(403, 'x', 'y'), new AdminRefusal(503, 'x', 'y'), new StoreUnavailable('away')])
    t.throws(() => problemsOf(error), error);
  t.end();
});
