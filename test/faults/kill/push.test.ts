import t from 'tap';
import { dayBack, same, stage } from '../../cli/usage/push/stage.js';
import { killPush } from './killed-push.js';

t.setTimeout(600_000);

/** PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 24 : 10;

t.test(
  `killed with -9 at ${KILLS} points, with a receiver that fails at random: nothing lost, nothing doubled`,
  async (t) => {
    const { receiver, args, env, push, use, ledger } = await stage(t, 150, ['--batch', '9', '--retry-for', '60s']);
    for (const back of [5, 4, 3]) await use(back, (place) => 1 + ((place * 7 + back) % 13));
    receiver.behave = () => {
      const dice = Math.random();
      return dice < 0.08
        ? 'refuse'
        : dice < 0.14
          ? 'break_before'
          : dice < 0.22
            ? 'break_after'
            : dice < 0.26
              ? { status: 429, headers: { 'retry-after': '0' } }
              : 'take';
    };
    const range = ['--from', dayBack(6), '--to-day', dayBack(2)];
    let kills = 0;
    for (let round = 0; round < KILLS * 2 && kills < KILLS; round += 1) {
      if (await killPush(t, { receiver, args: [...args, ...range], env })) kills += 1;
    }
    t.equal(kills, KILLS);
    const { code, stdout, stderr } = await push(...range);
    t.equal(code, 0, stderr);
    const rows = await ledger(dayBack(6), dayBack(2));
    same(t, receiver.events.values(), rows, 'group by group');
    const sum = [...receiver.events.values()].reduce((all, { data }) => all + Number(data['requests']), 0);
    t.equal(
      sum,
      rows.reduce((all, { requests }) => all + requests, 0),
      "the receiver's sum is the ledger's",
    );
    t.equal(receiver.contradictions, 0, 'the same id is always the same event');
    const { events } = JSON.parse(stdout) as { events: number };
    t.ok(events < rows.length, 'the last run went on where it was', { events, rows: rows.length });
    t.comment(
      `${kills} kills, ${receiver.requests.length} requests, ${receiver.repeats} repeats of ` +
        `${receiver.events.size} events`,
    );

    const again = receiver.requests.length;
    t.match(
      JSON.parse((await push('--to-day', dayBack(2))).stdout),
      { events: 0, ranges: [] },
      'what is done is not sent again',
    );
    t.equal(receiver.requests.length, again);
  },
);
