import t from 'tap';
import { InTurn } from '../../../src/shared/turns/in-turn.js';

t.test('works of one name are done one after the other, also after one that failed; others do not wait', async (t) => {
  const turns = new InTurn();
  const done: string[] = [];
  let release = (): void => undefined;
  const held = turns.run('a', () => new Promise<void>((resolve) => (release = resolve)));
  const failed = turns.run('a', () => Promise.reject(new Error('x')));
  const last = turns.run('a', () => Promise.resolve(done.push('a')));
  await turns.run('b', () => Promise.resolve(done.push('b')));
  t.same(done, ['b']);
  release();
  await held;
  await t.rejects(failed, { message: 'x' });
  t.equal(await last, 2);
});
