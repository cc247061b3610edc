import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../servers/until.js';
import { everyPet } from './flood.js';
import { callerOf, runProgram, startProgram, temporaryFolder, TOKEN, type Answer } from './service.js';

t.test('of two processes on one folder the second ends, and names the first', async (t) => {
  const environment = { PETGATE_DATA: temporaryFolder(t) };
  const { child, caller } = await startProgram(t, environment);
  const { stderr } = await runProgram(t, environment).ended;
  t.match(stderr, new RegExp(`process ${child.pid} on .* has .*pets open, and only one process may`));
  t.match(await caller.send('POST', '/v1/pets', '{"name":"Rex","categoryId":1}'), { status: 201 });
});

t.test('a full disk is 503 store_unavailable, loses nothing, and passes when there is room again', async (t) => {
  // The limit on a file's size stands in for the disk: writing past it fails in the same call.
  const { child, caller } = await startProgram(t, { PETGATE_DATA: temporaryFolder(t) }, [
    'sh',
    '-c',
    'ulimit -S -f 1024; exec "$@"',
    'sh',
  ]);
  const acknowledged: string[] = [];
  let answer: Answer;
  for (;;) {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        caller.send('POST', '/v1/pets', `{"name":"${'x'.repeat(200)}","categoryId":1,"status":"sold"}`),
      ),
    );
    acknowledged.push(...answers.filter(({ status }) => status === 201).map(({ text }) => text));
    const refused = answers.find(({ status }) => status !== 201);
    if (refused !== undefined) {
      answer = refused;
      break;
    }
  }
  t.equal(answer.status, 503);
  t.match(JSON.parse(answer.text), { code: 'store_unavailable', status: 503 });
  t.ok(acknowledged.length > 100, `${acknowledged.length} fitted`);
  t.same(
    await everyPet(caller),
    acknowledged.sort((a, b) => idOf(a) - idOf(b)),
    'nothing lost, nothing half there',
  );
  t.equal((await everyPet(caller, '&status=sold')).length, acknowledged.length);

  t.equal(spawnSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']).status, 0);
  const after = await caller.send('POST', '/v1/pets', '{"name":"Rex","categoryId":1}');
  t.equal(after.status, 201);
  t.ok(idOf(after.text) > idOf(acknowledged.at(-1) ?? ''));
});

function idOf(pet: string): number {
  return Number(/^\{"id":([0-9]+)/.exec(pet)?.[1]);
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} lets what is in flight finish, and ends with 0`, async (t) => {
    const folder = temporaryFolder(t);
    const { child, caller, ended } = await startProgram(t, { PETGATE_DATA: folder });
    // One connection in the middle of a request, one idle after a request, one that never sent a byte.
    const body = '{"name":"Rex","categoryId":1}';
    const slow = connect(caller.port, '127.0.0.1');
    let received = '';
    slow.on('data', (chunk: Buffer) => (received += chunk.toString()));
    const slowEnded = new Promise((resolve) => slow.once('close', resolve));
    slow.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: ` +
        `application/json\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    await until('the request is in flight', () => received.includes('100 Continue'));
    const silent = connect(caller.port, '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => silent.once('connect', resolve));
    await caller.send('GET', '/livez');

    const toldAtMs = Date.now();
    child.kill(signal);
    await until('no new connection is taken', () => refusesConnections(caller.port));
    slow.write(body);
    await slowEnded;
    t.match(received, /HTTP\/1\.1 201 Created\r\n.*connection: close\r\n.*"id":1/is);
    const { code, stderr } = await ended;
    t.equal(code, 0);
    t.ok(Date.now() - toldAtMs < 9_000, 'without waiting for those who ask nothing');
    t.equal(stderr, '');
    const again = await startProgram(t, { PETGATE_DATA: folder });
    t.equal((await again.caller.send('GET', '/v1/pets/1')).status, 200);
  });
}

function refusesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, '127.0.0.1', () => {
      probe.destroy();
      resolve(false);
    });
    probe.on('error', () => resolve(true));
  });
}

t.test('what keeps it from starting is one line and exit code 1', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  t.teardown(() => taken.close());
  const port = String((taken.address() as AddressInfo).port);
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'file'), '');
  for (const [environment, says] of [
    [{ PETS_PORT: port, PETGATE_DATA: folder }, new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}`)],
    [{ PETS_PORT: 'x', LOG_LEVEL: 'y' }, /PETS_PORT must .*; LOG_LEVEL must/],
    [{ PETS_HOST: 'nowhere.invalid', PETGATE_DATA: folder }, /cannot listen on nowhere\.invalid/],
    [{ DATABASE_URL: 'nonsense' }, /DATABASE_URL must look like/],
    [
      { DATABASE_URL: `postgres://u:hunter2@127.0.0.1:1/d` },
      /cannot use the database of DATABASE_URL \(connect ECONNREFUSED/,
    ],
    [{ PETGATE_DATA: join(folder, 'file') }, /cannot open the store in/],
  ] as const) {
    const { code, stdout, stderr } = await runProgram(t, environment).ended;
    t.equal(code, 1, stderr);
    t.match(stderr, /^pets cannot start: [^\n]+\n$/);
    t.match(stderr, says);
    t.notMatch(stdout + stderr, /hunter2|\n\s+at |internal-token-of/);
  }
});

t.test('without a token in the environment it takes the one in the data folder, and never logs it', async (t) => {
  const folder = temporaryFolder(t);
  const { child, caller, ended } = await startProgram(t, {
    PETGATE_DATA: folder,
    PETGATE_INTERNAL_TOKEN: '',
    LOG_LEVEL: 'trace',
  });
  const token = readFileSync(join(folder, 'internal-token'), 'utf8').trim();
  t.equal((await caller.send('GET', '/v1/pets')).status, 401);
  t.equal(
    (await callerOf(caller.url).send('GET', '/v1/pets', undefined, { authorization: `Bearer ${token}` })).status,
    200,
  );
  child.kill('SIGTERM');
  const { stdout, stderr } = await ended;
  t.notMatch(stdout + stderr, token);
});
