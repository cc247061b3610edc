import t from 'tap';
import { startPostgres } from '../../servers/postgres.js';
import { ReplicatedRedis } from './replicated-redis.js';
import { runSequence } from './sequence.js';

const IS_LONG = process.env['PETGATE_LONG'] === '1';
/** `PETGATE_BILLS=<seed>,<steps>` repeats one sequence; with a third part only steps with one of these in their names:
 * `PETGATE_BILLS=7,40,admit|archived|imported`. */
const [asked = '', length = '', only = ''] = (process.env['PETGATE_BILLS'] ?? '').split(',');
const STEPS = length === '' ? 30 : Number(length);
const LEAST = IS_LONG ? 5_000 : 300;
/** Fewer steps on a busy machine. */
const MOST_MS = IS_LONG ? Infinity : 60_000;

t.setTimeout(IS_LONG ? 3_600_000 : 600_000);
t.test('whatever is moved, restored or lost, each report is the true bill or is refused by name', async (t) => {
  const [postgres, ...redis] = await Promise.all([startPostgres(), ReplicatedRedis.start(), ReplicatedRedis.start()]);
  t.teardown(() => Promise.all([postgres.stop(), ...redis.map((each) => each.stop())]));
  const startedMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedMs;
  const isEnough = ({ steps }: typeof sums): boolean => steps >= LEAST || elapsedMs() >= MOST_MS;
  const sums = { sequences: 0, steps: 0, billed: 0, refused: 0 };
  while (asked === '' ? !isEnough(sums) : sums.sequences === 0) {
    const seed = asked === '' ? Math.floor(Math.random() * 1_000_000) : Number(asked);
    const { told, billed, refused, problem } = await runSequence(
      { postgres, redis },
      { seed, steps: STEPS, only },
      () => elapsedMs() >= MOST_MS,
    );
    sums.sequences += 1;
    sums.steps += told.length;
    sums.billed += billed;
    sums.refused += refused;
    t.comment(`seed ${seed}: ${told.length} steps, ${billed} bills, ${refused} refused`);
    if (problem === null) continue;
    t.fail(`PETGATE_BILLS=${seed},${STEPS},${only}: ${problem.message}`, {
      found: [...told, problem.stack].join('\n'),
    });
    if (asked === '') break;
  }
  t.ok(sums.billed > 0, 'bills were held against the model', sums);
  t.comment(JSON.stringify({ ...sums, ms: Math.round(elapsedMs()) }));
});
