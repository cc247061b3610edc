import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { Challenges } from '../../../src/gateway/admission/challenges.js';

t.test('an address waits only beyond its thousand a minute, and only so many wait at once', async (t) => {
  const challenges = new Challenges();
  const waited: string[] = [];
  const take = async (address: string): Promise<boolean> => {
    const taken = challenges.take(address);
    if ((await Promise.race([taken, setImmediate('waits')])) === 'waits') waited.push(address);
    return taken;
  };
  const first = await Promise.all(Array.from({ length: 1_000 }, () => take('192.0.2.1')));
  t.ok(first.every(Boolean));
  t.same(waited, []);
  const more = Array.from({ length: 101 }, () => take('192.0.2.1'));
  t.equal(await take('192.0.2.2'), true, 'another address');
  const taken = await Promise.all(more);
  t.equal(taken.filter((stays) => !stays).length, 1, 'one too many waits: it is to be cut off');
  t.same(waited, Array(100).fill('192.0.2.1'));
  t.equal(await take('192.0.2.1'), true, 'those that waited make room');
});

t.test('ten thousand addresses are counted, and then all anew', async (t) => {
  const challenges = new Challenges();
  for (let n = 0; n < 1_000; n += 1) await challenges.take('192.0.2.1');
  for (let n = 0; n < 10_000; n += 1) await challenges.take(`a${n}`);
  const taken = challenges.take('192.0.2.1').then(() => 'at once');
  t.equal(await Promise.race([taken, setImmediate('waits')]), 'at once');
});
