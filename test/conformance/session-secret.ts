import type { Test } from 'tap';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';

/** What sessions are sealed with: made once, whoever asks first, and another when somebody says so. */
export function sessionSecret(t: Test, engine: AdmissionEngine): void {
  t.test('all who ask at once for the first one get the same', async (t) => {
    const [first, ...others] = await Promise.all(Array.from({ length: 50 }, () => engine.sessionSecret.read()));
    t.equal(first!.length, 32);
    for (const other of others) t.same(other, first);
    t.same(await engine.sessionSecret.read(), first);
  });

  t.test('once it is replaced, nobody gets the one before', async (t) => {
    const before = await engine.sessionSecret.read();
    await engine.sessionSecret.replace();
    const after = await engine.sessionSecret.read();
    t.equal(after.length, 32);
    t.notSame(after, before);
    t.same(await engine.sessionSecret.read(), after);
  });
}
