import { Audit } from '../../../src/gateway/actions/access/audit.js';
import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import type { Test } from 'tap';
import { ZodType } from 'zod';
import type { EmbeddedEngine } from '../../../src/gateway/store/embedded/engine.js';
import { createAdmin } from '../../../src/gateway/admin/server.js';
import { ErrorBody } from '../../../src/gateway/actions/schemas.js';
import type { MountOf } from '../../../src/gateway/admin/mount.js';
import type { AdminParts, Action } from '../../../src/gateway/actions/action.js';
import { ROUTES } from '../../../src/gateway/admin/routes.js';
import type { KeyRegistry, RegistryParts } from '../../../src/gateway/accounts/keys/registry.js';
import { openRegistry, openStore } from '../accounts/store.js';

export const ADMIN_TOKEN = 'operators-only-0123456789';

/** The header fields of somebody with this token. */
export function bearer(token: unknown, actor?: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${String(token)}`, ...(actor !== undefined && { 'x-petgate-actor': actor }) };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON, `{}` when it is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Listener {
  readonly engine: EmbeddedEngine;
  readonly registry: KeyRegistry;
  readonly parts: AdminParts;
  readonly folder: string;
  readonly port: number;
  /** All log lines so far. */
  readonly logged: () => string;
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Reply>;
}

/** An admin listener on a real store and a free port, gone with the test. */
export async function listen(
  t: Test,
  more: Partial<AdminParts> = {},
  rules: Partial<RegistryParts> = {},
  mount?: MountOf,
): Promise<Listener> {
  const { engine, folder } = openStore(t);
  const registry = openRegistry(engine, rules);
  let logged = '';
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      logged += chunk.toString();
      done();
    },
  });
  const parts = {
    registry,
    engine,
    token: ADMIN_TOKEN,
    metrics: () => Promise.resolve('petgate_up 1\n'),
    recall: () => Promise.resolve({ exchanges: [], refused: [], silent: 0 }),
    ready: () => ({ ready: true, parts: { store: { ok: true } } }),
    running: () => ({ version: '9.9', settings: 'cc33', plans: 'aa11', contract: 'bb22' }),
    log: pino({ level: 'trace' }, sink),
    audit: new Audit(null),
    ...more,
  };
  const server = await createAdmin(parts, mount);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask: Listener['ask'] = async (method, path, body, headers = bearer(ADMIN_TOKEN)) => {
    const reply = await send(port, method, path, body, headers);
    holdToDescription(t, method, path, reply);
    return reply;
  };
  return { engine, registry, parts, folder, port, logged: () => logged, ask };
}

/** All items of a list, read a page at a time. @param path with a query */
export async function walk(
  { ask }: Pick<Listener, 'ask'>,
  path: string,
  list: string,
): Promise<readonly Reply['json'][]> {
  const items: Reply['json'][] = [];
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const { json } = await ask('GET', cursor === '' ? path : `${path}&cursor=${cursor}`);
    items.push(...(json[list] as readonly Reply['json'][]));
    ({ cursor } = json);
  }
  return items;
}

/** A JSON answer is as OpenAPI says: every field that is promised, and none that isn't. */
function holdToDescription(t: Test, method: string, path: string, { status, json }: Reply): void {
  const [plain = ''] = path.split('?');
  const fits = (one: Action): boolean => new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain);
  const { gives } = ROUTES.find((one) => one.method === method && (one.path === plain || fits(one))) ?? {};
  const form = status >= 400 ? ErrorBody : gives instanceof ZodType ? gives : null;
  if (form === null || method === 'HEAD' || Object.hasOwn(json, 'ready')) return;
  const parsed = form.safeParse(json);
  if (!parsed.success || !isDeepStrictEqual(parsed.data, json))
    t.fail(`${method} ${plain} is not as described`, { json, issues: parsed.error?.issues });
}

function send(
  port: number,
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json: parse(text) });
      });
    });
    req.on('error', reject);
    req.end(
      body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    );
  });
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
