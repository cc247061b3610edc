import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { operator } from '../operator.js';

const UNTIL = '2100-12-01T00:00:00Z';

for (const collection of ['keys', 'customers'] as const) {
  t.test(`${collection}: more for a while, listed, shown, withdrawn`, async (t) => {
    const { run, json } = await operator(t);
    const id = String((await json(collection, 'create', '--plan', 'free', '--name', 'Ada'))['id']);
    t.match(await run(collection, 'grants', id), { code: 0, stdout: 'No grants in force.\n' });
    const made = await run(collection, 'grant', id, '--day', '500', '--until', UNTIL, '--note', 'launch');
    t.match(made, { code: 0, stderr: '' });
    t.match(
      made.stdout,
      /^grant +window +units +until +by +note\n2 +day +500 +2100-12-01T00:00:00.000Z +cli:\S+ +launch$/m,
    );
    t.match((await run(collection, 'grants', id)).stdout, /2 +day +500 /);
    t.match((await run(collection, 'show', id)).stdout, /^grants +\+500 a day until 2100-12-01T00:00:00.000Z$/m);
    if (collection === 'keys')
      t.match((await run('keys', 'windows', id)).stdout, /^window +remaining +limit +reset\n.*\nday +1500 +1500 +20/);
    t.match((await run(collection, 'history', id)).stdout, /granted +grant: 2, window: day, units: 500, until: 2100/);
    t.match(await run(collection, 'withdraw', id, '2'), { code: 0, stdout: 'Grant 2 has ended.\n' });
    t.match((await run(collection, 'show', id)).stdout, /^grants +-$/m);
  });

  t.test(`${collection}: all that is stored is exported, and names are erased`, async (t) => {
    const { folder, run, json } = await operator(t);
    const made = await json(collection, 'create', '--plan', 'free', '--name', 'Ada', '--note', 'pays late');
    const id = String(made['id']);
    const exported = await run(collection, 'export', id);
    t.match(JSON.parse(exported.stdout), { [collection.slice(0, -1)]: { id, name: 'Ada' }, history: [{}] });
    const file = join(folder, 'ada.json');
    t.match(await run(collection, 'export', id, '--output', file), { code: 0, stdout: '', stderr: '' });
    t.match(JSON.parse(readFileSync(file, 'utf8')), { history: [{ action: 'created' }] });
    t.equal(statSync(file).mode & 0o777, 0o600);
    const end = collection === 'keys' ? 'revoke' : 'close';
    const early = await run(collection, 'erase', id);
    t.match(early, { code: 1, stderr: new RegExp(`first petgate ${collection} ${end} ${id}`) });
    await run(collection, end, id);
    t.match(await run(collection, 'erase', id), { code: 0, stdout: /are erased\.\n$/ });
    t.notMatch((await run(collection, 'export', id)).stdout, /Ada|pays/);
    t.match((await run(collection, 'show', id)).stdout, /^name +-$/m);
    t.match((await run(collection, 'history', id)).stdout, /erased +-$/m);
  });
}

t.test('a grant that is none says what to write instead', async (t) => {
  const { run, registry } = await operator(t);
  const { id } = (await registry.create({ plan: 'free', name: 'Ada' })).record;
  for (const [args, code, words] of [
    [['grant', id, '--until', UNTIL], 2, 'Give one of --minute, --day and --month'],
    [['grant', id, '--until', UNTIL, '--day', '5', '--minute', '5'], 2, 'a grant is of one window'],
    [['grant', id, '--day', '5'], 2, "required option '--until <date>' not specified"],
    [['grant', id, '--day', 'much', '--until', 'soon'], 1, 'units: must be a whole number from 1'],
    [['withdraw', id, '2'], 1, 'no grant with this number is in force'],
    [['grant', `ptg_staging_${'0'.repeat(44)}`, '--day', '5', '--until', UNTIL], 2, 'This is a whole key'],
  ] as const) {
    const told = await run('keys', ...args);
    t.equal(told.code, code, args.join(' '));
    t.match(told.stderr, words);
  }
});

t.test('an export is of one key, which there must be', async (t) => {
  const { run } = await operator(t);
  t.match(await run('keys', 'export'), { code: 2, stderr: /missing required argument/ });
  t.match(await run('keys', 'export', 'abcdefghijkl'), { code: 1, stderr: /no key has this id/ });
});
