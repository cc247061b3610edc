import t from 'tap';
import { shareOfTerms, sharesOf } from '../../../../src/gateway/store/outage/shares.js';
import type { Limits } from '../../../../src/gateway/admission/bucket.js';
import { NO_BAN } from '../../admission/ban.js';
import { PLANS } from '../../../conformance/cast.js';

t.test('a share is the whole tokens of a limit by the number of gateways', (t) => {
  const terms = { plan: 'p', refill: 'interval', ban: NO_BAN } as const;
  const limitsOf = (limits: Limits, gateways: number): Limits =>
    shareOfTerms({ ...terms, limits }, undefined, gateways).limits;
  t.strictSame(limitsOf({ minute: 61, day: 'unlimited' }, 2), { minute: 30, day: 'unlimited' });
  t.strictSame(limitsOf({ minute: 1, day: 9 }, 3), { minute: 0, day: 3 });
  const shares = sharesOf(PLANS, 7);
  t.strictSame(shares.get('free')?.limits, { minute: 8, day: 142 });
  t.equal(shares.get('enterprise')?.limits, 'custom');
  t.strictSame(shares.get('anonymous')?.limits, { minute: 1, day: 1 }, 'a 401 has to be charged to something');
  t.strictSame(shares.get('priced')?.limits, { minute: 14, day: 28, month: 142 });
  t.strictSame(
    shares
      .get('priced')
      ?.operations?.get('createPet')
      ?.windows.map(({ name, limit }) => [name, limit]),
    [
      ['createPet-minute', 2],
      ['createPet-day', 4],
    ],
  );
  t.end();
});
