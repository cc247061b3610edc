import t from 'tap';
import type { Test } from 'tap';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/shared/package-root.js';
import { issueCertificate } from '../../servers/certificate.js';
import { exchangeRaw } from '../../servers/raw.js';
import { begin, dataFolder, petgate, surroundings } from '../programs.js';
import { end, isAlive, ready, startBoth } from './ready.js';

const hasProc = process.platform === 'linux';

t.test('the first start shows a key that works, the second keeps the data and makes none', async (t) => {
  const env = surroundings(dataFolder(t));
  const first = begin(t, ['start'], env);
  const urls = await ready(first);
  const line = /curl -i -H 'Authorization: Bearer (ptg_\w+)' (\S+)/.exec(first.output());
  const answer = await fetch(line![2]!, { headers: { authorization: `Bearer ${line![1]!}` } });
  t.equal(answer.status, 200);
  t.same(await answer.json(), [], 'nothing else is seeded');
  t.ok(line![2]!.startsWith(urls.get('gateway')!));
  await end(t, first, 'SIGINT');
  const second = begin(t, ['start'], env);
  await ready(second);
  const hint = /^ {2}(.*).\/petgate (keys create --plan free --name "My app")$/m.exec(second.output());
  const bare = { PATH: env['PATH'], HOME: env['HOME'] };
  const program = `'${process.execPath}' '${join(packageRoot, 'dist/program/main.js')}'`;
  const pasted = await promisify(execFile)('bash', ['-c', `${hint![1]!}${program} ${hint![2]!}`], { env: bare });
  t.match(pasted.stdout, 'ptg_', 'what it says of another key works in another terminal');
  t.notMatch(second.output(), 'ptg_');
  t.notMatch(second.output(), '"level":"info"', 'no flood of log lines');
  await end(t, second);
});

t.test('each request is a line for people, without query and keys; LOG_LEVEL brings the JSON', async (t) => {
  const show = async (more: NodeJS.ProcessEnv): Promise<string> => {
    const running = begin(t, ['start'], surroundings(dataFolder(t), more));
    const url = (await ready(running)).get('gateway')!;
    const shown = running.output();
    t.match(shown, /Bearer ptg_/, 'a key is shown');
    const key = /Bearer (ptg_\w+)/.exec(shown)?.[1] ?? '';
    await fetch(`${url}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } });
    await fetch(`${url}/v1/pets?key=${key}`, { headers: { authorization: `Bearer ${key}` } });
    await fetch(`${url}/v1/pets/${key}`, { headers: { authorization: 'Bearer a' } });
    await end(t, running);
    return running.output().replaceAll(/^ {2}.*/gm, '');
  };
  const config = join(dataFolder(t), 'staging.yaml');
  writeFileSync(config, `extends: ${join(packageRoot, 'config/gateway.yaml')}\nenvironment: staging\n`);
  const [people, programs, staging] = await Promise.all([
    show({}),
    show({ LOG_LEVEL: 'info' }),
    show({ PETGATE_CONFIG: config }),
  ]);
  t.match(people, /^\d\d:\d\d:\d\d {2}GET {5}\/v1\/pets +200 +\d+\.\d ms$/m);
  t.match(people, /^\S+ {2}GET {5}\/v1\/pets +400 +\d+\.\d ms {2}answered by pets$/m);
  t.match(people, /^\S+ {2}GET {5}\/v1\/pets\/ptg… +401 +\d+\.\d ms {2}invalid_api_key \(malformed\): The .*\.$/m);
  t.notMatch(people, /limit=1|ptg_|"msg"/);
  t.match(programs, /^\{"level":"info".*"operation":"listPets".*"msg":"exchange"\}$/m);
  t.notMatch(programs, / ms(?: |$)/m);
  t.notMatch(staging, / ms(?: |$)|exchange/m, 'only in development');
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
    await end(t, running);
  },
);

t.test('a taken port is one clear line, and nothing is started', async (t) => {
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
    t.match(stderr, new RegExp(`^error: Port ${port} on 127\\.0\\.0\\.1 is in use; .*${variable}=\\d+\\n$`));
    t.equal(stdout, '');
  }
});

t.test('the port to take instead is one there is', async (t) => {
  const server = createServer()
    .listen(65_535, '127.0.0.1')
    .on('error', () => undefined);
  t.teardown(() => server.close());
  await Promise.race([
    new Promise((resolve) => server.once('listening', resolve)),
    new Promise((resolve) => server.once('error', resolve)),
  ]);
  const { code, stderr } = await petgate(['start'], surroundings(dataFolder(t), { HOST: '127.0.0.1', PORT: '65535' }));
  t.match({ code, stderr }, { code: 1, stderr: /^error: Port 65535 on 127\.0\.0\.1 is in use; .*PORT=65435\n$/ });
});

t.test('a stop leaves nothing behind, and says nothing of a crash', { skip: !hasProc }, async (t) => {
  const { running, pids } = await startBoth(t);
  running.child.kill('SIGINT');
  running.child.kill('SIGINT');
  t.equal(await running.ended, 0, 'one Ctrl-C that arrives twice is one');
  t.notOk(pids.some(isAlive));
  t.notMatch(running.output(), 'ended by itself');
});

t.test('a start that can not work ends with exit code 1 and says why', async (t) => {
  const { code, stderr } = await petgate(
    ['start'],
    surroundings(dataFolder(t), { DATABASE_URL: 'postgres://127.0.0.1:1/none' }),
  );
  t.equal(code, 1);
  t.match(stderr, /pets ended while starting \(exit code 1\)/);
});
