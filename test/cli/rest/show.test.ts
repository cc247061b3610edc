import t from 'tap';
import { fieldsIn } from '../../../src/cli/rest/options.js';
import { readable, recordOf } from '../../../src/cli/rest/show.js';

t.test('what is nested reads as words, not as JSON; control characters never reach the terminal', (t) => {
  for (const [value, words] of [
    [{ minute: 60, day: 'unlimited' }, 'minute 60, day unlimited'],
    [['pets:read', 'pets:write'], 'pets:read, pets:write'],
    [[{ created: '2026-11-21', ends: null }, { ends: 'x\u001b' }], 'created 2026-11-21, ends -; ends x?'],
    [[], '-'],
    [{}, '-'],
    [null, '-'],
    [false, 'false'],
  ] as const)
    t.equal(readable(value), words);
  t.equal(recordOf({ id: 'a', limits: { day: 5 } }), 'id      a\nlimits  day 5');
  t.equal(recordOf({ secrets: [{ ends: null }, { ends: '2027' }] }), 'secrets  never expires; until 2027');
  t.end();
});

t.test('a date may be so many days from now; limits come together; what is no figure goes as it is', (t) => {
  const { expires } = fieldsIn(['expires'], { expires: '90d' });
  t.ok(Math.abs(Date.parse(String(expires)) - Date.now() - 90 * 86_400_000) < 60_000, String(expires));
  t.same(fieldsIn(['expires', 'name'], { expires: 'never' }), { expires: null });
  t.same(fieldsIn(['until'], { until: 'soon' }), { until: 'soon' });
  t.same(
    fieldsIn(['minute', 'day', 'name', 'allScopes'], { minute: '5', day: 'unlimited', name: 'x', allScopes: true }),
    {
      limits: { minute: 5, day: 'unlimited' },
      name: 'x',
      scopes: null,
    },
  );
  t.throws(() => fieldsIn(['limit'], { limit: '0' }), /whole number from 1/);
  t.end();
});
