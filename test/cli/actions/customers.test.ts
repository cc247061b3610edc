import t from 'tap';
import { operator } from '../operator.js';

t.test('a customer is made, gets keys, is changed, reported and closed', async (t) => {
  const { run, json } = await operator(t);
  t.match(await run('customers', 'list'), { code: 0, stdout: 'No customers.\n' });
  const made = await run('customers', 'create', '--name', 'Big shop', '--plan', 'pro', '--reference', 'C-1042');
  t.match(made, { code: 0, stderr: '', stdout: /^id +\w{8}\nname +Big shop\nreference +C-1042\nplan +pro\n/ });
  const [, id = ''] = /^id +(\w{8})$/m.exec(made.stdout) ?? [];
  const key = await json('keys', 'create', '--customer', id, '--name', 'Web shop');
  t.match(key, { customer: id, plan: 'pro', id: new RegExp(`^${id}\\w{6}$`) });
  const changed = await run('customers', 'change', id, '--plan', 'enterprise', '--minute', '7', '--day', 'unlimited');
  t.match(changed, { code: 0, stdout: /plan +enterprise\n/ });
  t.match(await json('customers', 'show', id), { limits: { minute: 7, day: 'unlimited' } });
  t.match((await run('customers', 'list')).stdout, `${id}  Big shop  C-1042     enterprise  enabled`);
  t.match(await json('customers', 'list', '--reference', 'C-1042'), { customers: [{ id }] });
  t.match(await run('customers', 'list', '--reference', 'C-1'), { stdout: 'No customer has this reference.\n' });
  for (const customer of [id, 'C-1042'])
    t.match(await run('usage', 'report', '--customer', customer), { code: 0, stdout: /^Usage from/ });
  t.match(await run('usage', 'report', '--by', 'customer'), { code: 0, stdout: /customer +reference +name +requests/ });
  t.match((await run('bans', 'start', '--customer', id, '--for', '1h')).stdout, String(key['id']));
  t.match(await run('bans', 'lift', '--customer', id), { code: 0, stdout: `The bans of customer ${id} are lifted.\n` });
  t.match(await run('customers', 'close', id), { code: 0, stdout: `Customer ${id} is closed.\n` });
  t.match((await run('customers', 'history', id)).stdout, /closed +status: enabled → closed/);
});

t.test('wrong use is told', async (t) => {
  const { run } = await operator(t);
  for (const [args, code, words] of [
    [['customers', 'create', '--name', 'x'], 2, "required option '--plan <plan>' not specified"],
    [
      ['customers', 'create', '--name', 'x', '--plan', 'none', '--note', '\u0001'],
      1,
      /plan: there is .*; known here: .*\nnote: /,
    ],
    [['usage', 'report', '--customer', 'nobody00'], 1, 'no customer has this id or reference'],
    [['usage', 'report', '--customer', `ptg_staging_${'0'.repeat(46)}`], 2, 'This is a whole key'],
    [['usage', 'report', '--customer', 'C-1', '--key', 'x'], 1, 'Give either key or customer'],
    [['bans', 'start', '--for', '1h'], 2, 'petgate bans '],
    [['bans', 'lift', 'abc', '--customer', 'nobody00'], 2, 'petgate bans '],
    [['customers', 'show', `ptg_staging_${'0'.repeat(46)}`], 2, 'This is a whole key'],
  ] as const) {
    const told = await run(...args);
    t.equal(told.code, code, args.join(' '));
    t.match(told.stderr, words);
  }
});
