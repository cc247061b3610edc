import t from 'tap';
import { cutOff, HOUR_MS, lastTold, startStage } from './final-stage.js';
import { bringHome, pushFrom, reportOf, sameSums } from './late.js';
import { day } from '../../e2e/ledger.js';

t.test('what comes of a day after it was pushed without a gateway is pushed as a difference', async (t) => {
  const stage = await startStage(t, '3h');
  const { keyId, overMs } = stage;
  const { receiver, run } = await pushFrom(t, stage);
  await bringHome(stage, [], 3);
  await cutOff(stage, [
    { keyId, requests: 4 },
    { keyId, requests: 2, operation: 'createPet' },
  ]);
  await lastTold(stage, 4 * HOUR_MS);
  t.match(await reportOf(stage), { final: true, without: [{ gateway: stage.cutId }] });
  t.match(await run(), { events: 1, corrected: [] });
  t.match(await run(), { events: 0, corrected: [] }, 'nothing came meanwhile');
  sameSums(t, receiver.events.values(), await reportOf(stage), 'before it is back');

  await bringHome(stage, [], 9);
  t.match(await run(), { events: 2, corrected: [day(overMs)] });
  sameSums(t, receiver.events.values(), await reportOf(stage), 'after it is back');
  const group = `day=${day(overMs)}&key=${keyId}&operation=`;
  const requestsById = new Map([...receiver.events.values()].map(({ id, data }) => [id, data['requests']]));
  t.same(
    requestsById,
    new Map([
      [`${group}listPets`, 3],
      [`${group}createPet`, 2],
      [`${group}listPets&rev=2`, 4],
    ]),
  );
  for (let n = 0; n < 2; n += 1) t.match(await run(), { events: 0, corrected: [] }, 'all is there');

  t.match(await run('--from', day(overMs), '--to-day', day(overMs)), { events: 3 }, 'asked for once more');
  t.equal(receiver.contradictions, 0, 'the same ids say the same');
  t.equal(receiver.events.size, 3);
});
