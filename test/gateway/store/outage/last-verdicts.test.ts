import t from 'tap';
import { LastVerdicts, RENEW_MS } from '../../../../src/gateway/store/outage/last-verdicts.js';
import type { Verdict } from '../../../../src/gateway/admission/verdict.js';
import { ADMITTED } from '../../admission/verdict.js';

const unknown: Verdict = { outcome: 'unknown_key', reason: 'revoked' };

function see(last: LastVerdicts, id: string, verdict: Verdict | undefined): void {
  const requests = [
    { subject: { kind: 'key', id, secretHash: '' }, operation: 'listPets', scope: null, cost: 1 },
  ] as const;
  last.confirm(requests, [verdict], last.note(requests, [verdict]));
}

t.test(
  'a key is due when it is new, changed, or when its copy is old, and no more of them are remembered than there ' +
    'is room for',
  (t) => {
    const now = performance.now.bind(performance);
    t.teardown(() => (performance.now = now));
    const last = new LastVerdicts(() => 0);
    see(last, 'a', ADMITTED);
    see(last, 'b', undefined);
    t.strictSame(last.takeDue(10), ['a'], 'what was not decided is not seen');
    see(last, 'a', ADMITTED);
    t.strictSame(last.takeDue(10), [], 'not at each request');
    performance.now = () => now() + RENEW_MS;
    see(last, 'a', ADMITTED);
    t.strictSame(last.takeDue(10), ['a']);
    see(last, 'a', { ...ADMITTED, recordVersion: 2 });
    t.strictSame(last.takeDue(10), ['a'], 'and at once when its record is another');
    see(last, 'a', ADMITTED);
    const { now: clock } = Date;
    t.teardown(() => (Date.now = clock));
    Date.now = () => clock() + 41 * 86_400_000;
    see(last, 'a', ADMITTED);
    t.strictSame(last.takeDue(10), ['a'], 'and when the clock was set, by which its copy has aged');
    Date.now = clock;
    see(last, 'a', ADMITTED);
    t.strictSame(last.takeDue(10), ['a'], 'either way');
    see(last, 'a', unknown);
    t.equal(last.of('a')?.verdict, ADMITTED);
    for (let n = 0; n < 50_000; n += 1) see(last, `y${n}`, ADMITTED);
    t.equal(last.of('a'), undefined, 'those seen first are forgotten first');
    t.equal(last.takeDue(100).length, 100);
    t.end();
  },
);

t.test('of a customer it is the last about any of its keys, each with its own beside', (t) => {
  const last = new LastVerdicts(() => 0);
  const [first, second] = ['customerfirst0', 'customersecond'].map((id) => ({
    id,
    verdict: { ...ADMITTED, keyId: id },
  }));
  for (const { id, verdict } of [first!, second!]) see(last, id, verdict);
  t.equal(last.of('customer')?.verdict, second!.verdict);
  t.equal(last.of(first!.id)?.verdict, first!.verdict);
  t.strictSame(last.keyIds(), [first!.id, second!.id], 'a customer is no key');
  t.strictSame(last.takeDue(10), [first!.id, 'customer', second!.id], 'whose record is looked at as well');
  last.forget('customer');
  t.equal(last.of('customer'), undefined);
  t.ok(last.of(first!.id), 'what was seen of the key is its own');
  last.takeDue(10);
  see(last, first!.id, first!.verdict);
  t.strictSame(last.takeDue(10), ['customer'], 'what was forgotten is looked at anew');
  t.end();
});
