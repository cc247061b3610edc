import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operator } from '../operator.js';

const BAN = 'ban: { after: 30 }';
const FREE = `free: { limits: { minute: 60, day: 1000 }, ${BAN} }`;
const ANONYMOUS = `anonymous: { limits: { minute: 9, day: 90 }, ${BAN} }`;

t.test('plans are listed with who has them, and a file is checked against the store', async (t) => {
  const { registry, ask, folder, run } = await operator(t);
  const pro = await registry.create({ plan: 'pro', name: 'A' });
  await registry.create({ plan: 'pro', name: 'B' });
  await registry.revoke((await registry.create({ plan: 'pro', name: 'C' })).record.id);
  await registry.customers.create({ name: 'Acme', plan: 'free' }, 'test');
  const listed = await run('plans', 'list');
  t.match(listed, { code: 0, stderr: '' });
  t.match(listed.stdout, /^pro +in force +\d+ +\d+ +- +2 +0$/m);
  t.match(listed.stdout, /^free +in force +\d+ +\d+ +- +0 +1$/m);

  const file = join(folder, 'plans.yaml');
  const check = (...plans: readonly string[]): ReturnType<typeof run> => {
    writeFileSync(file, [...plans, ''].join('\n'));
    return run('plans', 'check', file);
  };
  const gone = await check(FREE, ANONYMOUS);
  t.match(gone, { code: 1, stdout: '', stderr: /plan pro is gone.*: 2 keys on it/ });
  t.match(gone.stderr, pro.record.id);
  t.match(await check(FREE, FREE.replace('free', 'pro'), ANONYMOUS), { code: 0, stdout: /The plans fit/ });
  t.match(await check(FREE.replace('60', 'sixty'), ANONYMOUS), { code: 1, stderr: /plans\.yaml:1:\d+: free\.limits/ });
  t.match(await check(FREE), { code: 1, stderr: /the plan anonymous is missing/ });
  const priced = FREE.replace('}, ban', '}, operations: { listPte: { cost: 2 } }, ban');
  t.match(await check(priced, FREE.replace('free', 'pro'), ANONYMOUS), { code: 0, stdout: /warning: .*listPte/ });
  t.match((await ask('POST', '/admin/v1/plans/check', { free: {} })).json, { problems: [/free/] }, 'whoever asks');
});
