import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { dayOf, DAY_MS } from '../../src/shared/utc-day.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../servers/gateway.js';
import { temporaryFolder } from '../servers/program.js';
import { redisFor } from '../servers/redis.js';
import { startUpstream } from '../servers/upstream.js';
import { petgate, surroundings, type Finished } from '../cli/programs.js';
import { filledStore, type Filled } from './filled-store.js';

interface Place {
  readonly gateway: Gateway;
  readonly run: (...args: readonly string[]) => Promise<Finished>;
}

async function place(t: Test, upstream: string, environment: Readonly<Record<string, string>>): Promise<Place> {
  const config = { upstreams: { pets: { addresses: [upstream] } } };
  const dataFolder = environment['PETGATE_DATA'] ?? temporaryFolder(t);
  const gateway = await startGateway(t, { config, environment, dataFolder });
  const env = surroundings(dataFolder, { PETGATE_ADMIN_TOKEN: ADMIN_TOKEN });
  return { gateway, run: (...args) => petgate(['--admin-url', gateway.adminUrl, ...args], env) };
}

/** All lines in the order of their kinds, rows of the ledger one by one, and without the moment of the export. */
function contentOf(file: string): readonly string[] {
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return lines
    .flatMap((line) => {
      delete line['exported'];
      if (line['kind'] === 'usage') return (line['rows'] as object[]).map((row) => JSON.stringify(sorted(row)));
      return JSON.stringify(sorted(line));
    })
    .sort();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}

async function bill({ run }: Place): Promise<string> {
  const [from, to] = [dayOf(Date.now() - 45 * DAY_MS), dayOf(Date.now())];
  const args = ['usage', '--from', from, '--to', to, '--by', 'customer,key,day,operation', '--format', 'csv'];
  const { code, stdout } = await run(...args);
  if (code !== 0 || stdout.split('\n').length < 40) throw new Error(`no bill: ${stdout}`);
  return stdout;
}

/** What its holder sees: status, and what is left of the day. */
async function answers({ gateway }: Place, { tokens }: Filled): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const token of tokens) {
    const { status, headers } = await fetch(`${gateway.url}/v1/usage`, {
      headers: { authorization: `Bearer ${token}` },
    });
    seen.push(`${status} ${/"day";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? 'no day'}`);
  }
  return seen;
}

/** The way of docs/guides/back-up-restore-move.md. */
t.test('embedded → Redis → embedded: bills, states and secrets are equal', async (t) => {
  const upstream = await startUpstream(t);
  const data = temporaryFolder(t);
  const filled = await filledStore(join(data, 'admission'));
  const redis = await redisFor(t);
  const files = temporaryFolder(t);
  const [first, second, third] = ['first', 'second', 'third'].map((name) => join(files, `${name}.jsonl`)) as [
    string,
    string,
    string,
  ];

  const old = await place(t, upstream.url, { PETGATE_DATA: data });
  t.match(await old.run('store', 'export', '--out', first), { code: 0, stdout: '', stderr: '' });
  t.equal(statSync(first).mode & 0o777, 0o600);
  const [content, before, seen] = [contentOf(first), await bill(old), await answers(old, filled)];
  t.ok(seen.some((each) => each.startsWith('200')) && seen.includes('200 0'), seen.join());
  t.match(content.join(), /"action":"banned","actor":"petgate"/, 'a ban that began by itself is in it');

  const shared = await place(t, upstream.url, { REDIS_URL: redis.url });
  const half = readFileSync(first, 'utf8').slice(0, 20_000);
  writeFileSync(join(files, 'half.jsonl'), half.slice(0, half.lastIndexOf('\n') + 1));
  const cut = await shared.run('store', 'import', join(files, 'half.jsonl'));
  t.match(cut, { code: 1, stderr: /the file is incomplete; the records in it were imported/ });
  t.match(await shared.run('store', 'import', first), {
    code: 0,
    stdout: /The file is whole: 3 customers, \d+ keys, 2 admin/,
  });
  const again = JSON.parse((await shared.run('store', 'import', first, '--json')).stdout) as Record<string, unknown>;
  t.match(again, { added: 0, changed: 0, newer: 0, raised: 0 }, 'a second run changes nothing');
  t.match(await shared.run('store', 'export', '--out', second), { code: 0 });
  t.same(contentOf(second), content);
  t.equal(await bill(shared), before);
  t.same(await answers(shared, filled), seen);

  // What happens meanwhile comes with the second export.
  const [token = ''] = filled.tokens;
  const spend = await fetch(`${old.gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${token}` } });
  t.equal(spend.status, 200);
  t.match(await old.run('keys', 'change', filled.ids[0]!, '--note', 'moved'), { code: 0 });
  await old.gateway.program.stop();
  const stopped = await place(t, upstream.url, { PETGATE_DATA: data });
  await stopped.run('store', 'export', '--out', first);
  const difference = await shared.run('store', 'import', first, '--json');
  t.match(JSON.parse(difference.stdout), { added: 0, changed: 1, newer: 0 }, difference.stderr);
  await shared.run('store', 'export', '--out', second);
  t.same(contentOf(second), contentOf(first));

  const fresh = await place(t, upstream.url, {});
  t.match(await fresh.run('store', 'import', second), { code: 0 });
  t.match(await fresh.run('store', 'export', '--out', third), { code: 0 });
  t.same(contentOf(third), contentOf(first));
  t.equal(await bill(fresh), await bill(stopped));
  t.same(await answers(fresh, filled), await answers(stopped, filled));
  const asBilling = surroundings(files, { PETGATE_ADMIN_TOKEN: filled.adminToken });
  t.match(await petgate(['--admin-url', fresh.gateway.adminUrl, 'usage'], asBilling), { code: 0 }, 'tokens are good');
  t.match(
    await petgate(['--admin-url', fresh.gateway.adminUrl, 'store', 'export'], asBilling),
    { code: 1, stderr: /operator/ },
    'and may what they might before',
  );
});

t.test('what would overwrite something else is named, and stays', async (t: Test) => {
  const upstream = await startUpstream(t);
  const one = await place(t, upstream.url, {});
  const { id } = await one.gateway.createKey({ plan: 'free' });
  const { stdout } = await one.run('store', 'export');
  const file = join(temporaryFolder(t), 'other.jsonl');
  writeFileSync(file, stdout.replaceAll('"name":"test"', '"name":"another"'));
  const refused = await one.run('store', 'import', file);
  t.match(refused, { code: 1, stderr: new RegExp(`line 2: a different key ${id} exists here: it stays`) });
  t.match((await one.run('keys', 'show', id, '--json')).stdout, '"test"');
  writeFileSync(file, stdout.replace(/"requests":\d+/, '"requests":9'));
  t.match(await one.run('store', 'import', file), { code: 1, stderr: /do not sum up/ });
  writeFileSync(file, '{"plan":"free"}\n');
  t.match(await one.run('store', 'import', file), { code: 1, stderr: /kind: must be one of/ });
  writeFileSync(file, stdout.split('\n').slice(1).join('\n'));
  t.match(await one.run('store', 'import', file), { code: 1, stderr: /begins with a line of kind "store"/ });
  const archived = stdout.replace('"archive":null', '"archive":{"id":"a1","days":["2026-01-01"]}');
  writeFileSync(file, archived);
  t.match(await one.run('store', 'import', file), { code: 1, stderr: /an embedded store has no archive/ });
});
