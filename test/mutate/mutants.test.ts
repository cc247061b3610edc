import t from 'tap';
import { mutantsOf } from './mutants.js';

const changed = (text: string): readonly string[] =>
  mutantsOf(text).map(({ start, end, text: other }) => text.slice(0, start) + other + text.slice(end));

t.test('each operator, condition, number, boolean and call has a mutant', (t) => {
  t.strictSame(changed('a < b'), ['a <= b']);
  t.strictSame(changed('if (a) b'), ['if (true) b', 'if (false) b']);
  t.strictSame(changed('x = !a && 0'), ['x = !a || 0', 'x = a && 0', 'x = !a && 1']);
  t.strictSame(changed('call();'), [';']);
  t.strictSame(changed('x = Math.min(a, true)'), ['x = Math.max(a, true)', 'x = Math.min(a, false)']);
  t.end();
});

t.test('texts and imports have none', (t) => {
  t.strictSame(changed("import a from 'a'; export { b }; x = `a` + 'b' + c"), []);
  t.end();
});
