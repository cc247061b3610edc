import t from 'tap';
import { command } from '../commands.js';
import { operator } from '../operator.js';

t.test('a token is made, shown once, used, listed and revoked', async (t) => {
  const { env, run, json } = await operator(t);
  const runWith = (token: string, ...args: readonly string[]) => command(args, { ...env, PETGATE_ADMIN_TOKEN: token });
  t.match(await run('tokens', 'list'), { code: 0, stdout: 'No admin tokens but the one of the environment.\n' });
  const told = await run('tokens', 'create', '--name', 'Billing run', '--role', 'billing', '--expires', '2030-12-05');
  t.match(told, {
    code: 0,
    stderr: '',
    stdout: /^Token created\. It is shown only this once:\n\n {2}pta_\w{44}\n\nid /,
  });
  t.match(told.stdout, /role +billing\n(?:.*\n)*expires +2030-12-05T00:00:00\.000Z\n$/);
  const [token = ''] = /pta_\w+/.exec(told.stdout) ?? [];
  const [, id = ''] = /^id +(\w{12})$/m.exec(told.stdout) ?? [];
  t.equal((await runWith(token, 'usage')).code, 0);
  const refused = await runWith(token, 'keys', 'list');
  t.same([refused.code, refused.stdout], [1, '']);
  t.match(
    refused.stderr,
    'needs an admin token with the role read, keys, or operator, and this one has the role billing',
  );
  t.match(await json('tokens', 'create', '--name', 'x', '--role', 'read'), {
    token: /^pta_/,
    role: 'read',
    expires: null,
    by: /^cli:/,
  });
  const listed = await run('tokens', 'list');
  t.match(listed.stdout, /^id +name +role +state +created +by +expires\n/);
  t.match(listed.stdout, `${id}  Billing run  billing  good `);
  t.notMatch(listed.stdout, 'pta_');
  t.equal(((await json('tokens', 'list'))['tokens'] as unknown[]).length, 2);
  t.match(await json('tokens', 'show', id), { id, name: 'Billing run' });
  t.match((await run('tokens', 'show', id)).stdout, /^id +\w{12}\nname +Billing run\n/);
  t.match(await run('tokens', 'revoke', id), { code: 0, stdout: `Token ${id} is revoked.\n` });
  t.equal((await runWith(token, 'usage')).code, 1);
  t.match(await run('tokens', 'revoke', id), { code: 1, stderr: 'no admin token has this id' });
});

t.test('those that have ended are marked, and removed all at once', async (t) => {
  let nowMs = Date.UTC(2026, 10, 22);
  const { run, json } = await operator(t, {}, { clock: () => Promise.resolve(nowMs) });
  const create = (name: string, ...more: readonly string[]) =>
    run('tokens', 'create', '--name', name, '--role', 'read', ...more);
  for (const [name, expires] of [
    ['first', '2026-11-23'],
    ['second', '2026-11-24'],
    ['third', 'never'],
  ] as const)
    t.equal((await create(name, '--expires', expires)).code, 0);
  t.match(await run('tokens', 'revoke', '--expired'), { code: 0, stdout: '0 expired tokens are gone.\n' });
  nowMs = Date.UTC(2026, 10, 24);
  const { stdout } = await run('tokens', 'list');
  for (const row of [/first +read +expired /, /second +read +expired /, /third +read +good /]) t.match(stdout, row);
  t.match(await run('tokens', 'revoke', '--expired'), { code: 0, stdout: '2 expired tokens are gone.\n' });
  t.match(await json('tokens', 'list'), { tokens: [{ name: 'third' }] });
  t.equal(((await json('tokens', 'list'))['tokens'] as unknown[]).length, 1);
  t.equal((await create('fourth', '--expires', '2026-11-25')).code, 0);
  nowMs = Date.UTC(2026, 10, 25);
  t.match(await run('tokens', 'revoke', '--expired'), { code: 0, stdout: '1 expired token is gone.\n' });
});

t.test('wrong use is told, and a whole token on the command line is not repeated', async (t) => {
  const { run } = await operator(t);
  for (const [args, code, words] of [
    [['create', '--name', 'x'], 2, "required option '--role <role>' not specified"],
    [['create', '--name', 'x', '--role', 'admin'], 2, 'Allowed choices are read, billing, keys, operator'],
    [['create', '--name', '', '--role', 'read', '--expires', 'soon'], 1, 'expires: must be a date'],
    [['show', `pta_${'0'.repeat(44)}`], 2, 'This is a whole admin token'],
    [['revoke', 'x'], 1, 'no admin token has this id'],
    [['revoke'], 2, 'Give either an ID or --expired'],
    [['revoke', 'x', '--expired'], 2, 'Give either an ID or --expired'],
  ] as const) {
    const refused = await run('tokens', ...args);
    t.equal(refused.code, code, args.join(' '));
    t.match(refused.stderr, words);
    t.notMatch(refused.stderr, '0'.repeat(44));
  }
});
