import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { stringify } from 'yaml';
import { admittedLine, NOON_MS } from '../../gateway/usage/rehearsal/traffic.js';
import { command } from '../commands.js';
import { dataFolder, surroundings, type Finished } from '../programs.js';

const plan = (minute: number) => ({ limits: { minute, day: 1000 }, ban: { after: 30 } });

t.test('plans are rehearsed on logs of several gateways, gzipped or not', async (t) => {
  const folder = dataFolder(t);
  const put = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const lines = Array.from({ length: 6 }, (_, n) => `${admittedLine(NOON_MS + n, [6, 5 - n], [1000, 999 - n])}\n`);
  const even = put('a.log', lines.filter((_, n) => n % 2 === 0).join(''));
  const packed = gzipSync(lines.filter((_, n) => n % 2 === 1).join(''));
  const odd = put('b.log.gz', packed);
  const less = put('less.yaml', stringify({ free: plan(4), anonymous: plan(10) }));
  const run = (...args: readonly string[]): Promise<Finished> =>
    command(['plans', 'rehearse', ...args], surroundings(folder));
  const { code, stdout } = await run(less, '--log', even, odd);
  t.equal(code, 0);
  t.match(stdout, /^6 requests from 2026-11-21T12:00:00.000Z to \S+ \(store's clock\), 2 decided otherwise\.\n/);
  t.match(stdout, /\nfree +6 +4 +0 +2 +0 +0 +6 +4\n/);
  t.match(stdout, /\nAbCdEf123456 +free +2026-11-21T12:00:00.004Z +listPets +minute +2/);
  const same = put('same.yaml', stringify({ free: plan(6), anonymous: plan(10) }));
  t.match(JSON.parse((await run(same, '--log', odd, even, '--json')).stdout), { rehearsed: 6, different: 0 });
  const copy = await run(same, '--log', odd, even, put('copy.log', lines.join('')));
  t.match(copy, { code: 0, stdout: /^6 requests .* 0 decided otherwise/ });
  t.match(
    copy.stdout,
    /note: 6 lines appeared twice and were counted once: a log, or a copy of it, was named twice\.\n/,
  );
  const priced = (name: string, minute: number) =>
    put(name, stringify({ free: { ...plan(minute), price: { per_unit: 5, currency: 'EUR' } }, anonymous: plan(10) }));
  const bill = await run(priced('dear.yaml', 4), '--today', priced('today.yaml', 6), '--log', even, odd);
  t.match(bill.stdout, /\nfree +6 +4 +0 +2 +0 +0 +6 +4 +0\.30 EUR +0\.20 EUR\n/);
  t.match(bill.stdout, /\nOwed for 2026-11-21 to 2026-11-21 \(UTC days\): 0\.30 EUR, then 0\.20 EUR\.\n/);
  for (const [args, exit, words] of [
    [[less], 2, /--log/],
    [[less, '--log', even, even], 2, /named twice/],
    [[less, '--log', put('cut.gz', packed.subarray(0, 60))], 1, /cut\.gz can't be read: unexpected end of file/],
    [[less, '--log', put('other.log', 'GET / 200\n')], 1, /no access line of a request/],
    [[put('none.yaml', stringify({ pro: plan(4), anonymous: plan(10) })), '--log', even], 1, /lacks plans .*free \(3/],
    [[put('bad.yaml', 'free: { limits: { minute: x } }\n'), '--log', even], 1, /bad\.yaml:1:\d+/],
  ] as const)
    t.match(await run(...args), { code: exit, stderr: words });
});

t.test('quiet gateways, of which one piece of a log is longer than lines wait, are met in order', async (t) => {
  const folder = dataFolder(t);
  const count = 12_000;
  const logs: [string, string] = ['', ''];
  for (let n = 0; n < count; n += 1) {
    const atMs = NOON_MS + n * 1_000;
    const line = admittedLine(atMs, [6, 5], [100_000, 99_999 - n], atMs + 60_000);
    logs[n % 2 === 0 ? 0 : 1] += `${line}\n`;
  }
  const files = logs.map((_, n) => join(folder, `${n}.log`));
  files.forEach((file, n) => writeFileSync(file, logs[n]!));
  const plans = join(folder, 'plans.yaml');
  writeFileSync(plans, stringify({ free: plan(100_000), anonymous: plan(10) }));
  const { stdout } = await command(['plans', 'rehearse', plans, '--json', '--log', ...files], surroundings(folder));
  t.match(JSON.parse(stdout), { rehearsed: count, ignored: { late: 0 } });
});
