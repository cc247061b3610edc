import t from 'tap';
import { soak } from '../../soak/soak.js';
import { temporaryFolder } from '../../servers/program.js';

/** Of a program that has other tests beside it: late answers are no fault then. */
const RATE = 1_500;

t.setTimeout(600_000);

t.test(
  '90 s of steady load on one processor, with all that goes on beside it: no failure, all sums equal',
  async (t) => {
    const options = {
      minutes: 1.5,
      rate: RATE,
      share: 0,
      cpus: 1,
      workers: 1,
      store: 'embedded',
      isTimed: false,
    } as const;
    const problems = await soak({ ...options, program: undefined }, temporaryFolder(t), (line) => t.comment(line));
    t.strictSame(problems, []);
  },
);
