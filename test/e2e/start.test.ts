import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { freePort } from '../servers/free-port.js';
import { until } from '../servers/until.js';

const ADMIN_TOKEN = 'token-of-this-test';
const TRIPLE = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
}

/** Both programs as `petgate start` runs them, ready when its first words are printed. */
async function start(t: Test, environment: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, [join(packageRoot, 'dist/program/main.js'), 'start'], {
    env: { ...process.env, ...environment },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  // The folder is removed after this: whoever still writes to it would leave it behind.
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  await until('petgate start is ready', () => {
    if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
    return Promise.resolve(/Another key:/.test(output));
  });
  const url = `http://127.0.0.1:${environment['PORT'] ?? ''}/docs`;
  t.notOk(await isFree(url)(), 'what is called ready listens, with several workers too');
  await until('the gateway listens', async () => !(await isFree(url)()));
  return { child, output: () => output };
}

/** Nothing listens there any more. */
const isFree = (url: string) => (): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  );

t.test('start, spend a free minute, kill -9, start again: limits, headers and the ledger hold', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-e2e-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [port, adminPort, petsPort] = [await freePort(), await freePort(), await freePort()].map(String) as [
    string,
    string,
    string,
  ];
  const environment = {
    PORT: port,
    ADMIN_PORT: adminPort,
    PETS_PORT: petsPort,
    PETGATE_DATA: folder,
    PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    REDIS_URL: '',
    PETGATE_WORKERS: '2',
  };
  const [url, adminUrl] = [`http://127.0.0.1:${port}/v1/pets`, `http://127.0.0.1:${adminPort}`];

  const first = await start(t, environment);
  const [key = ''] = /ptg_[A-Za-z0-9_]+/.exec(first.output()) ?? [];
  const ask = async (): Promise<number> => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    if (!TRIPLE.every((name) => /^\d+$/.test(response.headers.get(name) ?? '')))
      throw new Error(`no rate headers on a ${response.status}`);
    return response.status;
  };
  const used = async (): Promise<unknown> => {
    const today = Date.now();
    const day = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);
    const range = `from=${day(today - 86_400_000)}&to=${day(today + 86_400_000)}`;
    const response = await fetch(`${adminUrl}/admin/v1/usage?${range}&by=plan`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    return ((await response.json()) as { readonly totals: unknown }).totals;
  };

  const statuses = await Promise.all(Array.from({ length: 70 }, ask));
  t.equal(statuses.filter((status) => status === 200).length, 60, 'exactly the 60 of the plan, over two workers');
  t.equal(statuses.filter((status) => status === 429).length, 10);
  t.match(await used(), { requests: 60, limited: 10 });

  first.child.kill('SIGKILL');
  await once(first.child, 'close');
  await until('both programs are gone', isFree(url));
  await until('both programs are gone', isFree(`http://127.0.0.1:${petsPort}/livez`));

  const second = await start(t, environment);
  t.equal(await ask(), 429, 'the minute is still spent');
  t.match(await used(), { requests: 60, limited: 11 }, 'and the ledger still knows');

  second.child.kill('SIGINT');
  const [code] = (await once(second.child, 'exit')) as [number | null];
  t.equal(code, 0, 'SIGINT ends it in order');
  t.ok(await isFree(url)(), 'and nothing listens any more');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  t.ok(files.length > 0);
  t.strictSame(
    files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(key)),
    [],
    'no file holds the key',
  );
  t.notMatch(second.output(), key, 'the key was shown once');
});
