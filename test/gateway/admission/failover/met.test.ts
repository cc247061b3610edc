import t from 'tap';
import { Met, RENEW_MS } from '../../../../src/gateway/admission/failover/met.js';
import { shareOf, sharesOf } from '../../../../src/gateway/admission/failover/shares.js';
import type { Verdict } from '../../../../src/gateway/admission/verdict.js';
import { PLANS } from '../../../conformance/cast.js';

const window = { limit: 60, remaining: 59, resetAtMs: 0 };
const admitted: Verdict = { outcome: 'admitted', inScope: true, keyId: 'k', recordVersion: 1, plan: 'free', minute: window, day: window, atMs: 0 };
const unknown: Verdict = { outcome: 'unknown_key', reason: 'revoked' };

function meet(met: Met, id: string, verdict: Verdict | undefined): void {
  met.note([{ subject: { kind: 'key', id, secretHash: '' }, operation: 'listPets', scope: null, cost: 1 }], [verdict]);
}

t.test('a key is due when it is new and when its copy is old, one that was refused for a look, and no more of them than there is room', (t) => {
  const now = performance.now.bind(performance);
  t.teardown(() => (performance.now = now));
  const met = new Met();
  meet(met, 'a', admitted);
  meet(met, 'b', undefined);
  t.strictSame(met.takeDue(10), ['a'], 'what was not decided is not met');
  meet(met, 'a', admitted);
  t.strictSame(met.takeDue(10), [], 'not at each request');
  performance.now = () => now() + RENEW_MS;
  meet(met, 'a', admitted);
  t.strictSame(met.takeDue(10), ['a']);
  meet(met, 'a', { ...admitted, recordVersion: 2 });
  t.strictSame(met.takeDue(10), ['a'], 'and at once when its record is another');
  meet(met, 'a', admitted);
  for (let n = 0; n < 2_000; n += 1) meet(met, `x${n}`, unknown);
  const doubtful = met.takeDoubtful();
  t.ok(doubtful.length === 500 && doubtful[0] === 'x0');
  t.strictSame(met.takeDoubtful(), []);
  t.equal(met.seen('a')?.verdict, admitted);
  for (let n = 0; n < 50_000; n += 1) meet(met, `y${n}`, admitted);
  t.equal(met.seen('a'), undefined, 'those met first are forgotten first');
  t.equal(met.takeDue(100).length, 100);
  t.end();
});

t.test('a share is the whole tokens of a limit by the number of gateways', (t) => {
  t.strictSame(shareOf({ minute: 61, day: 'unlimited' }, 2), { minute: 30, day: 'unlimited' });
  t.strictSame(shareOf({ minute: 1, day: 9 }, 3), { minute: 0, day: 3 });
  const shares = sharesOf(PLANS, 7);
  t.strictSame(shares.get('free')?.limits, { minute: 8, day: 142 });
  t.equal(shares.get('enterprise')?.limits, 'custom');
  t.strictSame(shares.get('anonymous')?.limits, { minute: 1, day: 1 }, 'a 401 has to be charged to something');
  t.end();
});
