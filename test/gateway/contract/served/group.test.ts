import fc from 'fast-check';
import t from 'tap';
import { groupIn, groupQuery, tagsIn } from '../../../../src/gateway/contract/served/group.js';

t.test('any tag of a document can be asked for, and none is taken for what has no tag', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const [tag] = tagsIn({ tags: [name, name] });
      return groupIn(groupQuery(tag!)) === tag;
    }),
  );
  for (const tag of ['', 'untagged', 'a"b<c>', '__proto__', 'größe', 'a+b&tag=c', '\ufffd'])
    t.equal(groupIn(groupQuery(tag)), tag);
  t.strictSame(tagsIn({ tags: ['\ud800'] }), ['\ufffd']);
  t.equal(groupIn(groupQuery(null)), null);
  t.end();
});

t.test('a query that names no group asks for none', (t) => {
  for (const query of ['', '?', '?other=1', '?Tag=x']) t.equal(groupIn(query), undefined, query);
  t.equal(groupIn('?a=1&tag=x&tag=y&untagged'), 'x');
  t.end();
});

t.test('tags that are no text are passed over', (t) => {
  t.strictSame(tagsIn({ tags: ['a', 7, null, 'b', 'a'] }), ['a', 'b']);
  for (const tags of [undefined, null, 'a', { 0: 'a' }]) t.strictSame(tagsIn({ tags }), []);
  t.end();
});
