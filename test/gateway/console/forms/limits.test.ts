import t from 'tap';
import { limitsIn, limitsText } from '../../../../src/gateway/console/forms/limits.js';
import { readFields } from '../../../../src/gateway/pages/form.js';

t.test('limits of a form are numbers, or what the admin API is to refuse', (t) => {
  t.same(limitsIn(readFields('limit-minute=&limit-day=+')), {}, 'none entered');
  t.same(limitsIn(readFields('limit-minute=5000&limit-day=unlimited&limit-month=1e3')), {
    limits: { minute: 5000, day: 'unlimited', month: '1e3' },
  });
  t.end();
});

t.test('limits are said in words', (t) => {
  t.equal(limitsText({ minute: 60, day: 'unlimited' }), '60 per minute, unlimited per day');
  t.equal(limitsText(null), 'of the plan');
  t.equal(limitsText('custom'), 'custom');
  t.end();
});
