import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../../../src/shared/package-root.js';
import { DAY_MS } from '../../../../../src/shared/utc-day.js';
import { monthStartMs } from '../../../../../src/shared/utc-month.js';
import { startRedis } from '../../../../servers/redis.js';

const FILE = join(packageRoot, 'src/gateway/store/redis/scripts/include/month-start.lua');
const SCRIPT = `
local floor, starts = math.floor, {}
${readFileSync(FILE, 'utf8').replace(/^return function/m, 'local monthStart = function')}
for n = 1, #ARGV do
  starts[n] = string.format('%.0f', monthStart(floor(ARGV[n] / ${DAY_MS})) * ${DAY_MS})
end
return starts`;

t.test(
  'Redis begins every month where the calendar does, from 1970 to 2500, leap years and centuries included',
  async (t) => {
    const server = await startRedis();
    t.teardown(() => server.stop());
    const moments: number[] = [];
    for (let atMs = 0; atMs < Date.UTC(2500, 0); atMs += 7 * DAY_MS) moments.push(atMs);
    for (let month = 1; month < 12 * 530; month += 1) moments.push(Date.UTC(1970, month) - 1, Date.UTC(1970, month));
    const wrong: unknown[] = [];
    for (let from = 0; from < moments.length; from += 1_000) {
      const asked = moments.slice(from, from + 1_000);
      const starts = (await server.command('EVAL', SCRIPT, '0', ...asked.map(String))) as string[];
      asked.forEach((atMs, n) => {
        if (Number(starts[n]) !== monthStartMs(atMs)) wrong.push([new Date(atMs).toISOString(), starts[n]]);
      });
    }
    t.strictSame(wrong, []);
  },
);
