import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { ROUTES } from '../../../../src/gateway/admin/routes.js';
import { packageRoot } from '../../../../src/shared/package-root.js';
import { listen } from '../listener.js';

const REDOCLY = join(packageRoot, 'node_modules/@redocly/cli/bin/cli.js');

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

t.test('the description is for whoever has a token, and is valid OpenAPI 3.1', async (t: Test) => {
  const { ask } = await listen(t);
  const path = '/admin/v1/openapi.json';
  t.equal((await ask('GET', path, undefined, {})).status, 401);
  const { status, headers, json, text } = await ask('GET', path);
  t.equal(status, 200);
  t.match(headers['content-type'], 'application/json');
  t.match(json, { openapi: '3.1.0' });
  const file = join(t.testdir({}), 'openapi.json');
  writeFileSync(file, text);
  const linted = await promisify(execFile)(process.execPath, [REDOCLY, 'lint', file, '--extends=recommended-strict'], {
    cwd: t.testdirName,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
  }).then(
    () => '',
    (error: unknown) => {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
      return `${stdout}\n${stderr}`;
    },
  );
  t.equal(linted, '');
});

t.test('it tells of every route what the table knows of it, and of no other', async (t: Test) => {
  const { ask } = await listen(t);
  const { paths } = (await ask('GET', '/admin/v1/openapi.json')).json as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const told = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(told.sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
  for (const { method, path, role, browser, query = [], takes, streams, gives } of ROUTES) {
    const operation = paths[path]![method.toLowerCase()]!;
    t.same(
      operation.parameters?.filter((one) => one.in === 'query').map(({ name }) => name) ?? [],
      query,
      `${method} ${path}`,
    );
    t.ok(Object.hasOwn(operation.responses, String(gives[0])));
    t.equal(operation.requestBody !== undefined, takes !== undefined || streams === true);
    const schemes = role === 'open' ? [] : browser === true ? [{ bearer: [] }, { basic: [] }] : undefined;
    t.same(operation.security, schemes);
  }
});
