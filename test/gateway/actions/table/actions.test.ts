import t from 'tap';
import { allOffers, offerFor } from '../../../../src/cli/actions/offer.js';
import { ACTIONS } from '../../../../src/gateway/actions/table/actions.js';

const VERBS = [
  ...[
    'Accept',
    'Add',
    'Ban',
    'Bring',
    'Change',
    'Close',
    'Create',
    'Deliver',
    'End',
    'Erase',
    'Export',
    'Give',
    'Import',
  ],
  ...['Lift', 'List', 'Move', 'Name', 'Read', 'Report', 'Revoke', 'Show', 'Try', 'Wait'],
];

t.test('an action says in the imperative what it does: help, audit and OpenAPI repeat it', (t) => {
  for (const { method, path, role, summary } of ACTIONS.filter(({ role }) => role !== 'open'))
    t.match(summary, new RegExp(`^(${VERBS.join('|')}) .*[^.]$`), `${method} ${path} (${role})`);
  t.end();
});

t.test('no two actions have the same method and path', (t) => {
  const lines = ACTIONS.map(({ method, path }) => `${method} ${path}`);
  t.strictSame([...new Set(lines)], lines);
  t.end();
});

t.test(
  'of commands with the same words, what is given says which is meant; too little or too much is none',
  async (t) => {
    const offers = (await allOffers()).filter(({ words }) => words.join(' ') === 'bans lift');
    const pathFor = (given: Record<string, string>): string | undefined => offerFor(offers, given)?.action.path;
    t.equal(pathFor({ id: '5BkxuKZHANEf' }), '/admin/v1/bans/{id}');
    t.equal(pathFor({ id: '2001:db8::/64' }), '/admin/v1/bans/addresses/{id}');
    t.equal(pathFor({ customer: 'Ab3dE6gH' }), '/admin/v1/customers/{id}/bans');
    t.equal(pathFor({}), undefined);
    t.equal(pathFor({ id: '5BkxuKZHANEf', customer: 'Ab3dE6gH' }), undefined);
  },
);

t.test('every place in the path of an action has an argument or an option in its command', async (t) => {
  for (const { action, inPath, words } of await allOffers())
    t.equal(inPath.length, action.path.match(/\{/g)?.length ?? 0, words.join(' '));
});
