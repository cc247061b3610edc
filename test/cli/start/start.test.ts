import t from 'tap';
import type { Test } from 'tap';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { issueCertificate } from '../../servers/certificate.js';
import { exchangeRaw } from '../../servers/raw.js';
import { begin, dataFolder, petgate, surroundings } from '../programs.js';
import { isAlive, ready, startBoth } from './ready.js';

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
  'with TLS the line to paste says https; whatever asks the admin port works as before, also when the ' +
    'certificate cannot be read',
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
  const { running, pids } = await startBoth(t);
  running.child.kill('SIGINT');
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0, 'one Ctrl-C that arrives twice is one');
  t.notOk(pids.some(isAlive));
  t.notMatch(running.output(), 'ended by itself');
});

t.test('a start that can not work ends with exit code 1 and says why', async (t: Test) => {
  const { code, stderr } = await petgate(
    ['start'],
    surroundings(dataFolder(t), { DATABASE_URL: 'postgres://127.0.0.1:1/none' }),
  );
  t.equal(code, 1);
  t.match(stderr, /pets ended while starting \(exit code 1\)/);
});
