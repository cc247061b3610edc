import t from 'tap';
import type { Test } from 'tap';
import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { issueCertificate } from '../../servers/certificate.js';
import { exchangeRaw } from '../../servers/raw.js';
import { begin, dataFolder, eventually, petgate, surroundings } from '../programs.js';
import type { Running } from '../programs.js';

const READY = /ready {2}(pets|gateway) +(https?:\S+)/g;

/** The two programs under a supervisor, by what /proc says of their parent and command. */
function childrenOf({ child }: Running): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
      if (parent === String(child.pid))
        found.set(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[2] ?? '', Number(pid));
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Also where the promise is broken, no test may leave a program behind. */
function killAll(pids: readonly number[]): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL');
}

async function ready(running: Running): Promise<ReadonlyMap<string, string>> {
  await eventually(
    'start says how to stop',
    () => running.output().includes('Ctrl-C stops.') || (running.child.exitCode !== null && fail(running)),
  );
  return new Map([...running.output().matchAll(READY)].map(([, name, url]) => [name!, url!]));
}

function fail(running: Running): never {
  throw new Error(`start ended: ${running.output()}`);
}

const hasProc = process.platform === 'linux';

t.test('the first start shows a key that works, the second keeps the data and makes none', async (t: Test) => {
  const env = surroundings(dataFolder(t));
  const first = begin(t, ['start'], env);
  const urls = await ready(first);
  const line = /curl -i -H 'Authorization: Bearer (ptg_\w+)' (\S+)/.exec(first.output());
  const answer = await fetch(line![2]!, { headers: { authorization: `Bearer ${line![1]!}` } });
  t.equal(answer.status, 200);
  t.same(await answer.json(), [], 'nothing else is seeded');
  t.ok(line![2]!.startsWith(urls.get('gateway')!));
  first.child.kill('SIGINT');
  t.equal(await first.ended, 0);
  const second = begin(t, ['start'], env);
  await ready(second);
  t.match(second.output(), 'npx petgate keys create --plan free');
  t.notMatch(second.output(), 'ptg_');
  t.notMatch(second.output(), '"level":"info"', 'no flood of log lines');
  second.child.kill('SIGTERM');
  t.equal(await second.ended, 0);
});

t.test(
  'with TLS the line to paste says https; whatever asks the admin port works as before, also when the certificate cannot be read',
  async (t: Test) => {
    const folder = dataFolder(t);
    const tls = issueCertificate(folder, 'own');
    const env = surroundings(folder, { PETGATE_TLS_CERT: tls.cert, PETGATE_TLS_KEY: tls.key });
    const running = begin(t, ['start'], env);
    const url = new URL((await ready(running)).get('gateway')!);
    t.equal(url.protocol, 'https:');
    const [, key, pasted] = /curl -i -H 'Authorization: Bearer (ptg_\w+)' (\S+)/.exec(running.output())!;
    t.equal(pasted, `${url.origin}/v1/pets`);
    const [answer] = await exchangeRaw(
      { port: Number(url.port), ca: tls.ca },
      `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key!}\r\n\r\n`,
      1,
    );
    t.equal(answer?.status, 200);
    rmSync(tls.key);
    const [, adminUrl] = /admin API: (\S+)/.exec(running.output())!;
    const listed = await petgate(['keys', 'list', '--admin-url', adminUrl!], env);
    t.match(listed, { code: 0, stdout: 'Demo' }, listed.stderr);
    running.child.kill('SIGTERM');
    t.equal(await running.ended, 0);
  },
);

t.test('a taken port is one clear line, and nothing is started', async (t: Test) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const variable of ['PORT', 'ADMIN_PORT', 'PETS_PORT']) {
    const { code, stdout, stderr } = await petgate(
      ['start'],
      surroundings(dataFolder(t), { HOST: '127.0.0.1', [variable]: String(port) }),
    );
    t.equal(code, 1);
    t.match(stderr, new RegExp(`^error: Port ${port} on 127\\.0\\.0\\.1 is taken, .*${variable}=\\d+ npm start\\n$`));
    t.equal(stdout, '');
  }
});

t.test('the port to take instead is one there is', async (t: Test) => {
  const server = createServer()
    .listen(65_535, '127.0.0.1')
    .on('error', () => undefined);
  t.teardown(() => server.close());
  await Promise.race([
    new Promise((resolve) => server.once('listening', resolve)),
    new Promise((resolve) => server.once('error', resolve)),
  ]);
  const { code, stderr } = await petgate(['start'], surroundings(dataFolder(t), { HOST: '127.0.0.1', PORT: '65535' }));
  t.match(
    { code, stderr },
    { code: 1, stderr: /^error: Port 65535 on 127\.0\.0\.1 is taken, .*PORT=65435 npm start\n$/ },
  );
});

t.test('a stop leaves nothing behind, and says nothing of a crash', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  await ready(running);
  const pids = [...childrenOf(running).values()];
  t.teardown(() => killAll(pids));
  t.equal(pids.length, 2);
  running.child.kill('SIGINT');
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0, 'one Ctrl-C that arrives twice is one');
  t.notOk(pids.some(isAlive));
  t.notMatch(running.output(), 'ended by itself');
});

t.test('kill -9 of the supervisor leaves nothing behind', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  await ready(running);
  const pids = [...childrenOf(running).values()];
  t.teardown(() => killAll(pids));
  t.equal(pids.length, 2);
  running.child.kill('SIGKILL');
  t.equal(await running.ended, 'SIGKILL');
  await eventually('both programs leave', () => !pids.some(isAlive));
});

t.test('a program that is killed is started again, and said to be', { skip: !hasProc }, async (t: Test) => {
  const running = begin(t, ['start'], surroundings(dataFolder(t)));
  const urls = await ready(running);
  for (const name of ['pets', 'gateway']) {
    const pid = childrenOf(running).get(name)!;
    process.kill(pid, 'SIGKILL');
    const next = await eventually(`${name} again`, () => {
      const now = childrenOf(running).get(name);
      return now !== pid && now;
    });
    t.ok(isAlive(next));
    t.match(running.output(), `${name} ended by itself (signal SIGKILL)`);
  }
  const reply = await untilAnswered(`${urls.get('gateway')!}/openapi.json`);
  t.equal(reply.status, 200);
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0);
});

t.test('a start that can not work ends with exit code 1 and says why', async (t: Test) => {
  const { code, stderr } = await petgate(
    ['start'],
    surroundings(dataFolder(t), { DATABASE_URL: 'postgres://127.0.0.1:1/none' }),
  );
  t.equal(code, 1);
  t.match(stderr, /pets ended while starting \(exit code 1\)/);
});

async function untilAnswered(url: string): Promise<Response> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    try {
      return await fetch(url);
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
