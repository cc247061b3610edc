import { request, type IncomingHttpHeaders } from 'node:http';
import type { Test } from 'tap';
import type { RegistryParts } from '../../../src/gateway/accounts/keys/registry.js';
import type { AdminParts } from '../../../src/gateway/actions/action.js';
import { createConsole } from '../../../src/gateway/console/open.js';
import type { Role } from '../../../src/gateway/store/records/admin-token.js';
import { ADMIN_TOKEN, listen, type Listener } from '../admin/listener.js';

interface PageReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Somebody with a browser, who keeps the cookie and sends forms as its pages have them. */
export interface Visitor {
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<PageReply>;
  /** Sends `fields` and the hidden fields of the form at `page` whose action is `path`, and follows where it leads. */
  readonly submit: (page: string, path: string, fields?: Readonly<Record<string, string>>) => Promise<PageReply>;
  readonly post: (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<PageReply>;
  readonly signIn: (token?: string) => Promise<PageReply>;
  readonly cookie: () => string;
}

export interface Console extends Listener {
  readonly visitor: () => Visitor;
  /** A visitor who has signed in with a new token of this role; without one, with the operator's own. */
  readonly signedIn: (role?: Role) => Promise<Visitor>;
  /** Time for sessions, which goes on only when it is set. */
  readonly clock: { nowMs: number };
}

/** A console on a real store and a free port, gone with the test. */
export async function openConsole(
  t: Test,
  more: Partial<AdminParts> = {},
  rules: Partial<RegistryParts> = {},
): Promise<Console> {
  const clock = { nowMs: Date.now() };
  const listener = await listen(
    t,
    more,
    rules,
    createConsole(null, () => clock.nowMs),
  );
  const visitor = (): Visitor => visitorOf(listener.port);
  const signedIn: Console['signedIn'] = async (role) => {
    const made = role && (await listener.ask('POST', '/admin/v1/tokens', { name: `A ${role}`, role }));
    const signed = visitor();
    await signed.signIn(made && String(made.json['token']));
    return signed;
  };
  return { ...listener, clock, visitor, signedIn };
}

export function visitorOf(port: number): Visitor {
  let cookie = '';
  const origin = `http://127.0.0.1:${port}`;
  const ask = async (method: string, path: string, headers: object, body?: string): Promise<PageReply> => {
    const reply = await send(port, method, path, { ...(cookie === '' ? {} : { cookie }), ...headers }, body);
    const [set] = reply.headers['set-cookie'] ?? [];
    if (set !== undefined) cookie = set.split(';')[0]!;
    return reply;
  };
  const get: Visitor['get'] = (path, headers = {}) => ask('GET', path, headers);
  const post: Visitor['post'] = (path, fields, headers = {}) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers };
    return ask('POST', path, form, new URLSearchParams(fields).toString());
  };
  const submit: Visitor['submit'] = async (page, path, fields = {}) => {
    const reply = await post(path, { ...hiddenIn((await get(page)).text, path), ...fields });
    return reply.status === 303 ? get(reply.headers.location!) : reply;
  };
  const signIn: Visitor['signIn'] = (token = ADMIN_TOKEN) => submit('/console/sign-in', '/console/sign-in', { token });
  return { get, post, submit, signIn, cookie: () => cookie };
}

/** The hidden fields of the form with this action. */
export function hiddenIn(html: string, action: string): Readonly<Record<string, string>> {
  const form = html.split('<form ').find((part) => part.includes(`action="${action}"`)) ?? '';
  const fields = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

function send(port: number, method: string, path: string, headers: object, body = ''): Promise<PageReply> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers: { ...headers }, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
