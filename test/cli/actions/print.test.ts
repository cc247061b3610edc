import t from 'tap';
import { z } from 'zod';
import { fieldsIn, optionsFor } from '../../../src/cli/actions/options.js';
import { recordOf } from '../../../src/cli/actions/print.js';
import { NewKey, NewGrant } from '../../../src/gateway/actions/schemas.js';
import { readable } from '../../../src/shared/text/readable.js';

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
  const read = (schema: z.ZodType, values: object) =>
    fieldsIn(optionsFor(z.toJSONSchema(schema, { io: 'input' })), values as Record<string, unknown>);
  const { expires } = read(NewKey, { expires: '90d' });
  t.ok(Math.abs(Date.parse(String(expires)) - Date.now() - 90 * 86_400_000) < 60_000, String(expires));
  t.same(read(NewKey, { expires: 'never' }), { expires: null });
  t.same(read(NewGrant, { until: 'soon', units: '5', window: 'day' }), { until: 'soon', units: 5, window: 'day' });
  t.same(read(NewKey, { minute: '5', day: 'unlimited', name: '7', allScopes: true }), {
    limits: { minute: 5, day: 'unlimited' },
    name: '7',
    scopes: null,
  });
  t.same(read(NewKey, { scope: ['a', 'b'] }), { scopes: ['a', 'b'] });
  t.end();
});
