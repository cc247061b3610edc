import t from 'tap';
import { nearest, suggestion } from '../../../src/shared/names/nearest.js';

t.test('a slip finds its name, a stranger none', (t) => {
  const known = ['listen', 'limits', 'log', 'port', 'host'];
  t.equal(nearest('lisen', known), 'listen');
  t.equal(nearest('hots', known), 'host');
  t.equal(nearest('prot', known), 'port');
  t.equal(nearest('limit', known), 'limits');
  t.equal(nearest('database', known), undefined);
  t.equal(suggestion('database', ['a', 'b']), 'known here: a, b');
  t.equal(suggestion('database', []), 'remove it');
  t.end();
});
