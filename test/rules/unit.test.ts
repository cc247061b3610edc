import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { loadedBy } from './source-files.js';
import { unitTests } from './unit.js';

const units = unitTests();

t.test('a unit test loads no server that is a process of its own', (t) => {
  const servers = ['gateway', 'postgres', 'program', 'redis', 'browser', 'haproxy', 'prometheus', 'tool'].map(
    (name) => `test/servers/${name}.ts`,
  );
  for (const server of servers) t.ok(existsSync(join(packageRoot, server)), server);
  t.strictSame(
    units.filter((path) => servers.some((server) => loadedBy([path]).has(server))),
    [],
  );
  t.strictSame(
    units.filter((path) => /^test\/(?:answers|attacks|bench|e2e|faults|images)\//.test(path)),
    [],
    'these folders are about whole programs',
  );
  t.end();
});

t.test('what needs no process is one of them, what needs one is not', (t) => {
  for (const path of [
    'test/gateway/refusal.test.ts',
    'test/gateway/admission/decide.test.ts',
    'test/gateway/admin/server.test.ts',
    'test/conformance/embedded.test.ts',
  ])
    t.ok(units.includes(path), path);
  for (const path of [
    'test/conformance/redis.test.ts',
    'test/pets/main.test.ts',
    'test/cli/main.test.ts',
    'test/gateway/workers/primary.test.ts',
  ])
    t.notOk(units.includes(path), path);
  t.end();
});
