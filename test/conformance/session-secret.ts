import type { Test } from 'tap';
import { until } from '../servers/until.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';

/** What sessions are sealed with: made once, whoever asks first, and another when somebody says so. */
export function sessionSecret(t: Test, engine: AdmissionEngine): void {
  t.test('all who ask at once for the first one get the same', async (t) => {
    const [first, ...others] = await Promise.all(Array.from({ length: 50 }, () => engine.sessionSecret.read()));
    t.equal(first!.length, 32);
    for (const other of others) t.same(other, first);
    t.same(await engine.sessionSecret.read(), first);
  });

  t.test('a session that was ended stays so, until it is forgotten', async (t) => {
    const { sessionSecret: sessions } = engine;
    await sessions.end('one', 60_000);
    await sessions.end('two', 1);
    t.same([await sessions.hasEnded('one'), await sessions.hasEnded('none')], [true, false]);
    await until('it is forgotten', async () => {
      await sessions.end('three', 60_000);
      return !(await sessions.hasEnded('two'));
    });
    t.equal(await sessions.hasEnded('one'), true);
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
