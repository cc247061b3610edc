import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { begin, dataFolder, petgate, surroundings } from './programs.js';

/** What each misspelt variable means. Before it was refused, it meant an embedded store in production, or one worker. */
const MISSPELT = {
  REDIS_ULR: 'REDIS_URL',
  PETGATE_WORKER: 'PETGATE_WORKERS',
  PETGATE_CONFGI: 'PETGATE_CONFIG',
  PETGATE_EVENT_URL: 'PETGATE_EVENTS_URL',
};

t.test('gateway, pets, start and config check refuse a misspelt variable, and say which is meant', async (t: Test) => {
  const env = surroundings(dataFolder(t), Object.fromEntries(Object.keys(MISSPELT).map((name) => [name, '2'])));
  for (const args of [['gateway'], ['pets'], ['start'], ['config', 'check']]) {
    const program = begin(t, args, env);
    const giveUp = setTimeout(() => program.child.kill('SIGKILL'), 10_000);
    t.equal(await program.ended, 1, `${args.join(' ')} ends: ${program.output()}`);
    clearTimeout(giveUp);
    for (const [name, meant] of Object.entries(MISSPELT))
      t.match(program.output(), `environment variable ${name}: not known; did you mean "${meant}"?`);
    t.notMatch(program.output(), '    at ');
  }
});

t.test('what Kubernetes says of Services beside is no mistake, and no port', async (t: Test) => {
  const links = {
    PETGATE_GATEWAY_SERVICE_HOST: '10.0.0.1',
    PETGATE_GATEWAY_SERVICE_PORT_HTTP: '80',
    PETGATE_GATEWAY_PORT: 'tcp://10.0.0.1:80',
    PETGATE_GATEWAY_PORT_80_TCP_ADDR: '10.0.0.1',
    PETS_PORT: 'tcp://10.0.0.2:8081',
    ADMIN_PORT: 'tcp://10.0.0.3:9090',
  };
  t.match(await petgate(['config', 'check'], surroundings(dataFolder(t), links)), { code: 0, stderr: '' });
});

t.test('production without Redis has to be asked for', async (t: Test) => {
  const folder = dataFolder(t);
  const check = async (more: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> => {
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, `extends: ${join(packageRoot, 'config/production.yaml')}\n${more}`);
    return petgate(['config', 'check'], surroundings(folder, { PETGATE_CONFIG: file, ...env }));
  };
  const redis = { REDIS_URL: 'redis://127.0.0.1:1' };
  t.match(await check(''), { code: 1, stderr: /REDIS_URL.*store: \{ engine: embedded \}/ });
  t.match(await check('', redis), { code: 0 });
  t.match(await check('store: { engine: embedded }\n'), { code: 0 });
  t.match(await check('store: { engine: embedded }\n', redis), { code: 1, stderr: /engine: .*REDIS_URL/ });
  t.match(await check('store: { engine: redis }\n'), { code: 1, stderr: /REDIS_URL/ });
});
