import t from 'tap';
import { Uploads } from '../../../src/gateway/upstream/uploads.js';

const MINUTE_MS = 60_000;

t.test(
  'long bodies have half of the connections, one caller a part of these; others wait for their turn',
  async (t) => {
    const uploads = new Uploads(() => 16);
    const entered: string[] = [];
    const enter = async (caller: string, ms = MINUTE_MS): Promise<void> => {
      const hasRoom = await uploads.enter({ caller, share: 0.25 }, ms);
      entered.push(`${caller} ${hasRoom ? 'in' : 'out'}`);
    };
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    for (const caller of ['a', 'a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e']) void enter(caller);
    await turn();
    t.same(entered, ['a in', 'a in', 'b in', 'b in', 'c in', 'c in', 'd in', 'd in']);
    t.equal(uploads.waiting, 3);
    uploads.leave('b');
    await turn();
    t.equal(entered.at(-1), 'e in', 'not a third of the same caller');
    uploads.leave('a');
    await turn();
    t.equal(entered.at(-1), 'a in');
    await enter('f', 1);
    t.equal(entered.at(-1), 'f out');
    for (const caller of ['a', 'a', 'b', 'c', 'c', 'd', 'd', 'e']) uploads.leave(caller);
    await turn();
    t.equal(entered.at(-1), 'a in', 'who waited for its own others is served at last');
    t.equal(uploads.waiting, 0);
    uploads.leave('a');
  },
);

t.test('there is one place at least', async (t) => {
  const uploads = new Uploads(() => 1);
  t.equal(await uploads.enter({ caller: 'a', share: 0 }, MINUTE_MS), true);
  t.equal(await uploads.enter({ caller: 'a', share: 0 }, 1), false);
  uploads.leave('a');
  t.equal(await uploads.enter({ caller: 'b', share: 0 }, MINUTE_MS), true);
  uploads.leave('b');
});
