import t from 'tap';
import { nextLink, parseListQuery, refuseQuery } from '../../src/pets/paging.js';
import { PET_STATUSES } from '../../src/pets/store/port.js';
import { Refusal } from '../../src/pets/refusal.js';

t.test('a next link leads to the page after the last pet, with the same filter and limit', (t) => {
  for (const status of [undefined, ...PET_STATUSES]) {
    for (const id of [1n, 9007199254740993n, 2n ** 63n - 1n]) {
      const link = nextLink({ afterId: 0n, limit: 7, status }, { id, name: 'Rex', categoryId: 1n });
      const search = /^<\/v1\/pets\?(.+)>; rel="next"$/.exec(link)?.[1] ?? '';
      t.same(parseListQuery(search), { afterId: id, limit: 7, status });
    }
  }
  t.end();
});

t.test('no query asks for the first 20', (t) => {
  t.same(parseListQuery(''), { afterId: 0n, limit: 20, status: undefined });
  t.end();
});

t.test('a cursor with any character changed is refused', (t) => {
  const cursor =
    /cursor=([\w-]+)/.exec(
      nextLink({ afterId: 0n, limit: 7, status: 'sold' }, { id: 5n, name: 'Rex', categoryId: 1n }),
    )?.[1] ?? '';
  for (let at = 0; at < cursor.length; at += 1) {
    const changed = `${cursor.slice(0, at)}!${cursor.slice(at + 1)}`;
    t.ok(parseListQuery(`status=sold&cursor=${changed}`) instanceof Refusal, changed);
  }
  t.end();
});

/** Query, and all that it must be told. */
const SEVERAL: readonly (readonly [string, string])[] = [
  [
    'limit=0&status=lost',
    'limit must be a whole number from 1 to 100. status must be one of available, pending, sold, not "lost".',
  ],
  [
    'offset=1&limit=0&page=2&offset=3',
    'limit must be a whole number from 1 to 100. The query parameters "offset", "page" are not known here. ' +
      'Leave them out.',
  ],
  [
    'cursor=x&status=sold&status=lost&limit=1&limit=2',
    'limit is in the query twice. Send it once. status is in the query twice. Send it once.',
  ],
  [
    'cursor=x&limit=101',
    'limit must be a whole number from 1 to 100. cursor does not belong to this list. Follow the next link ' +
      'unchanged, or omit cursor to start again.',
  ],
  ['a&b&c&d&e&f&g', 'The query parameters "a", "b", "c", "d", "e" and 2 more are not known here. Leave them out.'],
];

t.test('all mistakes of a query are told at once', (t) => {
  for (const [query, says] of SEVERAL) {
    const answer = parseListQuery(query);
    t.equal(answer instanceof Refusal ? answer.message : 'taken', says, query);
  }
  t.equal(refuseQuery('b=1&a=2')?.message, 'The query parameters "b", "a" are not known here. Leave them out.');
  t.end();
});

t.test('an operation without parameters takes none', (t) => {
  t.equal(refuseQuery(''), undefined);
  t.equal(refuseQuery('a=1')?.code, 'invalid_parameter');
  t.end();
});
