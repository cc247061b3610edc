import t from 'tap';
import { Submissions } from '../../../src/gateway/pages/submissions.js';

t.test('a form does its work once, and a second click is shown what came of it', async (t) => {
  const submissions = new Submissions<number>();
  let done = 0;
  const act = (): Promise<number> => Promise.resolve((done += 1));
  const id = submissions.newId();
  t.strictSame(await Promise.all([submissions.once(id, 0, act), submissions.once(id, 0, act)]), [1, 1]);
  t.equal(await submissions.once(id, 59_999, act), 1);
  t.equal(await submissions.once(id, 60_000, act), null, 'what was shown is kept for a minute alone');
  t.equal(await submissions.once(submissions.newId(), 60_000, act), 2);
  t.equal(done, 2);
});

t.test('what failed, or only said what to put right, may be sent again', async (t) => {
  const submissions = new Submissions<string>();
  await t.rejects(submissions.once('a', 0, () => Promise.reject(new Error('away'))));
  t.equal(await submissions.once('a', 0, () => Promise.resolve('done')), 'done');
  submissions.release('a');
  t.equal(await submissions.once('a', 0, () => Promise.resolve('again')), 'again');
});

t.test('no more than some are kept', async (t) => {
  const submissions = new Submissions<number>();
  for (let id = 0; id < 10_200; id += 1) await submissions.once(String(id), 0, () => Promise.resolve(id));
  const never = (): Promise<number> => Promise.resolve(-1);
  t.equal(await submissions.once('10199', 0, never), 10_199);
  t.equal(await submissions.once('5000', 0, never), null, 'done, and its answer is gone');
  t.equal(await submissions.once('1', 0, never), -1, 'forgotten');
});
