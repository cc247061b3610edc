import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { statusOf } from '../../../src/gateway/actions/action.js';
import { ROUTES } from '../../../src/gateway/admin/routes.js';
import { packageRoot } from '../../../src/shared/package-root.js';
import { listen } from './listener.js';

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
  for (const one of ROUTES) {
    const { method, path, role, query = {}, takes, streams } = one;
    const operation = paths[path]![method.toLowerCase()]!;
    t.same(
      operation.parameters?.filter((one) => one.in === 'query').map(({ name }) => name) ?? [],
      Object.keys(query),
      `${method} ${path}`,
    );
    t.ok(Object.hasOwn(operation.responses, String(statusOf(one))));
    t.equal(operation.requestBody !== undefined, takes !== undefined || streams === true);
    t.same(operation.security, role === 'open' ? [] : undefined);
  }
});

t.test('each body is read by the fields that are described, and each query by its parameters', async (t: Test) => {
  const { ask, registry } = await listen(t, {}, { emitsEvents: true });
  const { record } = await registry.create({ plan: 'free', name: 'x' });
  const { id: customer } = await registry.customers.create({ plan: 'free', name: 'x' }, 'x');
  for (const { method, path, query, takes } of ROUTES) {
    const at = path.replace('{id}', path.includes('customers') ? customer : record.id);
    const slips: readonly string[] = [
      ...(takes instanceof z.ZodObject ? Object.keys(takes.shape).map((field) => `${field}x`) : []),
      'strange_fiield',
    ];
    if (takes instanceof z.ZodObject) {
      const refused = await ask(method, at, Object.fromEntries(slips.map((field) => [field, 1])));
      t.match(refused, { status: 400, json: { code: 'invalid_fields' } }, `${method} ${at}`);
      for (const field of slips) t.match(refused.json['message'], `unknown field "${field}"`);
      for (const field of Object.keys(takes.shape)) t.match(refused.json['message'], `did you mean "${field}"`);
    }
    if (query === undefined) continue;
    const refused = await ask(
      method,
      `${at}?${Object.keys(query)
        .map((name) => `${name}x=1`)
        .join('&')}`,
    );
    t.match(refused, { status: 400, json: { code: 'invalid_query' } }, `${method} ${at}`);
    for (const name of Object.keys(query)) t.match(refused.json['message'], `did you mean "${name}"`);
  }
});

t.test('what each field may hold is described, as it is refused', async (t: Test) => {
  const { ask } = await listen(t);
  const { components, paths } = (await ask('GET', '/admin/v1/openapi.json')).json as unknown as {
    readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: unknown }>> };
    readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: readonly object[] } }>>;
  };
  const { schemas } = components;
  t.match(schemas['NewKey'], {
    required: ['name'],
    additionalProperties: false,
    properties: { name: { type: 'string', maxLength: 100 }, note: { maxLength: 1_000 } },
  });
  t.match(schemas['NewGrant'], {
    required: ['window', 'units', 'until'],
    properties: { window: { enum: ['minute', 'day', 'month'] }, units: { minimum: 1, maximum: 100_000_000 } },
  });
  t.match(schemas['NewToken']?.properties, { role: { enum: ['read', 'billing', 'keys', 'operator'] } });
  t.match(schemas['NewBan'], { required: ['for'], properties: { for: { pattern: String } } });
  t.match(schemas['KeyPage']?.properties, { keys: { items: { $ref: '#/components/schemas/Key' } } });
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } };
  const status = { name: 'status', schema: { enum: ['enabled', 'disabled', 'revoked'] } };
  const order = { name: 'order', schema: { enum: ['id', 'newest'], default: 'id' } };
  const parameters = [{ name: 'search' }, order, limit, { name: 'cursor' }, { name: 'plan' }, status];
  t.match(paths['/admin/v1/keys']?.get?.parameters, parameters);
});
