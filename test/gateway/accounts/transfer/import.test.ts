import { createHash } from 'node:crypto';
import t from 'tap';
import type { Plan } from '../../../../src/gateway/admission/plan.js';
import type { Body } from '../../../../src/gateway/accounts/fields.js';
import { ImportRefused, type ImportLine } from '../../../../src/gateway/accounts/transfer/import.js';
import { makeToken, parseToken } from '../../../../src/gateway/accounts/token.js';
import { BAN } from '../../admission/ban.js';
import { judge, linesOf, openBoth, openRegistry, openStore, rejection } from '../store.js';

const PAST = '2020-01-31T00:00:00.000Z';

function hashOf(token: string, form: 'hex' | 'base64url' = 'base64url'): string {
  return createHash('sha256').update(token).digest(form);
}

/** Lines of keys of plan free, named "App". */
const freeKeys = (tokens: readonly { readonly id: string; readonly secretHash: string }[]) =>
  tokens.map(({ id, secretHash }) => ({ id, hash: secretHash, plan: 'free', name: 'App' }));

async function problemsOf(asked: Promise<unknown>): Promise<readonly string[]> {
  return (await rejection(asked, ImportRefused)).problems;
}

t.test('a key of another form needs its hash only, in either spelling: its token finds it', async (t) => {
  const { engine, registry } = openBoth(t, { acceptImported: true });
  const tokens = Array.from({ length: 300 }, (_, n) => `sk-live-${n}-0123456789abcdef`);
  const bodies = tokens.map((token, n) => ({
    hash: hashOf(token, n % 2 === 0 ? 'hex' : 'base64url'),
    plan: 'free',
    name: `old ${n}`,
  }));
  t.same(await registry.import(linesOf(bodies), 'Zoë'), { imported: 300, unchanged: 0 });
  for (const token of tokens) {
    const id = parseToken(token, 'staging', true)!.id;
    t.equal((await registry.get(id)).name, `old ${tokens.indexOf(token)}`);
    if ((await judge(engine, token)) !== 'admitted') t.fail(`${token} is not good`);
  }
  const [first] = await registry.history(parseToken(tokens[0]!, 'staging', true)!.id);
  t.match(first, { action: 'imported', actor: 'Zoë', changed: { plan: 'free', name: 'old 0' } });
  t.same(await registry.import(linesOf(bodies)), { imported: 0, unchanged: 300 }, 'once more changes nothing');
});

t.test('every field comes along: ids, two secrets, dates gone by, own limits, disabled and revoked keys', async (t) => {
  const { engine, registry } = openBoth(t);
  const [own, next] = [makeToken('staging', 'abcdefghijkl'), makeToken('staging', 'abcdefghijkl')];
  const [off, over, gone] = [makeToken('staging'), makeToken('staging'), makeToken('staging')];
  const result = await registry.import(
    linesOf([
      {
        id: own.id,
        hashes: [next.secretHash, { hash: own.secretHash, ends: PAST }],
        plan: 'enterprise',
        limits: { minute: 5, day: 'unlimited', month: 70 },
        name: 'Big',
        note: 'n',
        scopes: ['pets:read'],
        created: PAST,
      },
      { id: off.id, hash: off.secretHash, plan: 'pro', name: 'Off', status: 'disabled' },
      { id: over.id, hash: over.secretHash, plan: 'pro', name: 'Over', expires: PAST },
      { id: gone.id, plan: 'pro', name: 'Gone', status: 'revoked' },
    ]),
  );
  t.equal(result.imported, 4);
  t.match(await registry.get(own.id), {
    plan: 'enterprise',
    limits: { minute: 5, day: 'unlimited', month: 70 },
    note: 'n',
    scopes: ['pets:read'],
    createdAtMs: Date.parse(PAST),
    version: 1,
  });
  const outcomes = await Promise.all([own, next, off, over, gone].map(({ token }) => judge(engine, token)));
  t.same(outcomes, ['expired', 'admitted', 'disabled', 'expired', 'revoked']);
});

t.test(
  'a check names each invalid line with all that is wrong and writes nothing; an import leaves these lines out',
  async (t) => {
    const { engine, registry } = openBoth(t, { acceptImported: true });
    const tokens = Array.from({ length: 1_200 }, (_, n) => `old-key-${n}-0123456789`);
    const good = tokens.map((token, n) => ({ hash: hashOf(token), plan: 'free', name: `old ${n}` }));
    const { record: there } = await registry.create({ plan: 'free', name: 'There' });
    const bad: readonly (readonly [Body, ...string[]])[] = [
      [{}, 'plan: is required', 'name: is required', 'hash: is required'],
      [{ hash: hashOf('x'), plan: 'por', name: 'x', nmae: 'y' }, 'did you mean "pro"', 'unknown field "nmae"'],
      [{ hash: 'f'.repeat(63), plan: 'free', name: 'x' }, 'hash: must be'],
      [{ hash: 'f'.repeat(43), plan: 'free', name: 'x' }, 'hash: must be'],
      [{ hash: 5, plan: 'free', name: 'x' }, 'hash: must be'],
      [{ hash: hashOf('y'), hashes: [], plan: 'free', name: 'x' }, 'either'],
      [{ hashes: 'x', plan: 'free', name: 'x', id: 'abcdefghijkm' }, 'hashes: must be a list'],
      [{ hashes: [hashOf('y'), hashOf('y')], plan: 'free', name: 'x', id: 'abcdefghijkm' }, 'two are the same'],
      [{ hashes: [hashOf('y'), hashOf('z')], plan: 'free', name: 'x' }, 'id: is required'],
      [{ hashes: [hashOf('x'), hashOf('y'), hashOf('z')], plan: 'free', name: 'x' }, 'id: is required'],
      [{ hashes: [{ hash: hashOf('y'), end: 5 }], plan: 'free', name: 'x' }, 'unknown field "end"'],
      [{ hash: hashOf('y'), plan: 'free', name: 'x', id: 'customer-42' }, 'leave it out'],
      [{ hash: hashOf('y'), plan: 'free', name: 'x', status: 'revoked' }, 'a revoked key has none'],
      [{ hash: hashOf('y'), plan: 'free', name: 'x', status: 'on' }, 'status: must be'],
      [{ hash: hashOf('y'), plan: 'free', name: 'x', created: 'yesterday' }, 'created: must be a date'],
      [{ hash: hashOf('y'), plan: 'enterprise', name: 'x' }, 'limits: missing, plan "enterprise" has custom limits'],
      [{ id: there.id, hash: hashOf('y'), plan: 'free', name: 'There' }, 'exists already'],
    ];
    const bodies = [...good, ...bad.map(([body]) => body)];
    const problems = await problemsOf(registry.import(linesOf(bodies), 'Zoë', true));
    for (const [index, [body, ...expected]] of bad.entries()) {
      const line = `line ${good.length + index + 1}: `;
      const told = problems.filter((problem) => problem.startsWith(line));
      t.ok(
        expected.length > 0 && expected.every((words) => told.some((problem) => problem.includes(words))),
        `${JSON.stringify(body)}: ${told.join(' | ')}`,
      );
      t.equal(told.length, expected.length, told.join(' | '));
    }
    t.equal(problems.length, bad.flatMap(([, ...expected]) => expected).length);
    t.notMatch(problems.join(), hashOf('y'));
    t.equal(await judge(engine, tokens[0]!), 'unknown');
    t.same(
      (await registry.list({}, null, 100)).records.map(({ id }) => id),
      [there.id],
      'nothing came of it',
    );
    t.same(await problemsOf(registry.import(linesOf(bodies))), problems);
    t.same(await registry.import(linesOf(good)), { imported: 0, unchanged: 1_200 }, 'all valid ones were imported');
    t.equal(await judge(engine, tokens.at(-1)!), 'admitted');
  },
);

t.test('a file of nothing but mistakes is not read to its end', async (t) => {
  const { registry } = openBoth(t);
  const problems = await problemsOf(registry.import(linesOf(Array.from({ length: 5_000 }, () => ({})))));
  t.match(problems.at(-1), /nothing was read beyond line \d+/);
  t.ok(problems.length < 5_000);
});

t.test('keys of another form are refused where they would never be looked up', async (t) => {
  const { registry } = openBoth(t);
  const hash = hashOf('sk-live-0123456789abcdef');
  t.match(await problemsOf(registry.import(linesOf([{ hash, plan: 'free', name: 'x' }]))), [/accept_imported/]);
});

t.test('a key that has changed since is not overwritten; one that is as the file says is left alone', async (t) => {
  const { registry } = openBoth(t);
  const tokens = [makeToken('staging'), makeToken('staging')];
  const bodies = freeKeys(tokens);
  await registry.import(linesOf(bodies));
  await registry.change(tokens[1]!.id, { plan: 'pro' });
  t.match(await problemsOf(registry.import(linesOf(bodies))), [/^line 2: .*differs from this line/]);
  t.equal((await registry.get(tokens[1]!.id)).plan, 'pro');
});

t.test('of two lines with one id the first counts, wherever the second stands', async (t) => {
  const { registry } = openBoth(t);
  const [twice, ...others] = Array.from({ length: 150 }, () => makeToken('staging'));
  const [app, ...rest] = freeKeys([twice!, ...others]);
  const bodies = [app!, { ...app, name: 'Other' }, ...rest, { ...app, name: 'Last' }];
  const problems = await problemsOf(registry.import(linesOf(bodies)));
  t.match(problems, [/^line 2: .*differs from this line/, /^line 152: /]);
  t.equal((await registry.get(twice!.id)).name, 'App');
  t.equal((await registry.list({}, null, 200)).records.length, 150);
});

t.test('a source that breaks off: what came before it is there, and run again the import goes on', async (t) => {
  const { engine, registry } = openBoth(t);
  const tokens = Array.from({ length: 250 }, () => makeToken('staging'));
  const bodies = freeKeys(tokens);
  const broken = async function* (): AsyncGenerator<ImportLine> {
    yield* linesOf(bodies.slice(0, 220));
    throw new Error('the client went away');
  };
  await t.rejects(registry.import(broken()), { message: 'the client went away' });
  const there = (await registry.list({}, null, 300)).records.length;
  t.ok(there > 0 && there < 250, `${there} are there`);
  t.same(await registry.import(linesOf(bodies)), { imported: 250 - there, unchanged: there });
  for (const { token } of [tokens[0]!, tokens[249]!]) t.equal(await judge(engine, token), 'admitted');
  for (const { id } of tokens) t.equal((await registry.history(id)).length, 1, 'each was imported once');
});

t.test('two imports of one file at once bring in each key once', async (t) => {
  const { registry } = openBoth(t);
  const tokens = Array.from({ length: 250 }, () => makeToken('staging'));
  const bodies = freeKeys(tokens);
  const results = await Promise.all([registry.import(linesOf(bodies)), registry.import(linesOf(bodies))]);
  const sumOf = (field: 'imported' | 'unchanged'): number => results.reduce((sum, one) => sum + one[field], 0);
  t.same([sumOf('imported'), sumOf('unchanged')], [250, 250]);
});

t.test('keys on a retired plan are refused, by line and with what to do', async (t) => {
  const { engine } = openStore(t);
  const open = { name: 'free', limits: { minute: 60, day: 1_000 }, refill: 'interval', ban: BAN } as const;
  const plans = new Map<string, Plan>([
    ['free', open],
    ['old', { ...open, name: 'old', retired: true }],
  ]);
  const registry = openRegistry(engine, { acceptImported: true, plans: () => plans });
  const bodies = ['free', 'old'].map((plan) => ({ plan, name: plan, hash: hashOf(`sk-live-0123456789-${plan}`) }));
  t.same(await problemsOf(registry.import(linesOf(bodies))), [
    'line 2: plan: plan "old" is retired: its holders keep it, and no one else gets it; choose one of free',
  ]);
});
