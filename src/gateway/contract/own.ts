import type { Report } from './document/findings.js';
import type { Mapping } from './document/references.js';
import type { Operation } from './operation/operation.js';
import type { LoadedOperation } from './read.js';

/** Operations that the gateway serves itself. This one shows a key all its windows. */
export const OWN_USAGE = 'getOwnUsage';
export const OPENAPI = 'getOpenapi';
/** The pages for key holders, with their files and forms. */
export const ACCOUNT = 'getAccount';
export const SIGN_IN = 'signIn';
export const ACCOUNT_FILE = 'getAccountFile';
export const ACCOUNT_FORM = 'sendAccountForm';
export const ACCOUNT_IDS: readonly unknown[] = [ACCOUNT, SIGN_IN, ACCOUNT_FILE, ACCOUNT_FORM];
/** The reference. */
export const DOCS = 'getDocs';
export const DOCS_FILE = 'getDocsFile';
export const OWN_IDS: ReadonlySet<unknown> = new Set([OWN_USAGE, OPENAPI, DOCS, DOCS_FILE, ...ACCOUNT_IDS]);

/** Returns the gateway's own operation with this name; undefined if there is none. */
export function ownOperation(operations: readonly Operation[], wanted: string): Operation | undefined {
  return operations.find(({ id, upstream }) => id === wanted && upstream === 'gateway');
}

/**
 * Returns path items below `prefix` for all own operations that the document does not name. Reports operations of
 * upstreams below `prefix`.
 * @param account prefix of the pages for key holders; null: no pages (they share an origin with the API's responses)
 */
export function ownItems(
  prefix: string,
  stated: readonly LoadedOperation[],
  account: string | null,
  report: Report,
): Mapping {
  const named = new Set<unknown>();
  for (const { operationId, upstream, operation, at } of stated) {
    if (upstream === 'gateway') named.add(operationId);
    else if (`${operation.path}/`.startsWith(`${prefix}/`))
      report(
        at.slice(0, 2),
        'key',
        `${prefix} is where the gateway's own operations are; name another path for them: own_paths in the settings`,
      );
  }
  const items: Record<string, Record<string, Mapping>> = {};
  const add = (below: string, all: readonly Item[]): void => {
    for (const [path, method, operation] of all)
      // A copy, because `serve` removes what clients need not know.
      if (!named.has(operation['operationId'])) (items[below + path] ??= {})[method] = structuredClone(operation);
  };
  add(prefix, DOCUMENTED);
  if (account !== null) add(account, ACCOUNT_PAGES);
  return items;
}

const IN_PATH = { in: 'path', required: true };
const FILE = { name: 'file', ...IN_PATH, schema: { type: 'string', enum: ['page.css', 'page.js'] } };
const PART = { name: 'part', ...IN_PATH, schema: { type: 'string', pattern: '^[a-z][A-Za-z0-9._-]*$' } };
const OPEN = { security: [] };
const OF_OPERATION = {
  ...OPEN,
  parameters: [{ name: 'operation', in: 'query', description: 'The one to show.', schema: { type: 'string' } }],
};
const FORM = { ...OPEN, requestBody: { content: { 'application/x-www-form-urlencoded': {} } } };

type Item = readonly [path: string, method: 'get' | 'post', operation: Mapping];

const DOCUMENTED: readonly Item[] = [
  ['/usage', 'get', own(OWN_USAGE, 'Plan, limits, usage and ban of the key that asks', 'application/json')],
  ['/openapi.json', 'get', own(OPENAPI, 'This document', 'application/json', OPEN)],
  ['/docs', 'get', own(DOCS, 'The reference as a page', 'text/html', OF_OPERATION)],
  ['/docs/{file}', 'get', own(DOCS_FILE, 'A file of the page', '*/*', { ...OPEN, parameters: [FILE] })],
];
const ACCOUNT_PAGES: readonly Item[] = [
  ['/account', 'get', own(ACCOUNT, 'The page on which the holder of a key sees it', 'text/html', OPEN)],
  [
    '/account',
    'post',
    own(SIGN_IN, 'Signs in to that page, with the key as the field `key` of a form', 'text/html', FORM),
  ],
  ['/account/{part}', 'get', own(ACCOUNT_FILE, 'A file of that page', '*/*', { ...OPEN, parameters: [PART] })],
  [
    '/account/{part}',
    'post',
    own(ACCOUNT_FORM, 'Rotates the key, or signs out, by a form of that page', 'text/html', {
      ...FORM,
      parameters: [PART],
    }),
  ],
];

function own(operationId: string, summary: string, type: string, more: Mapping = {}): Mapping {
  return {
    operationId,
    tags: ['gateway'],
    summary,
    description: `${summary}. Answered by the gateway; costs nothing.`,
    ...more,
    'x-petgate': { upstream: 'gateway', cost: 0 },
    responses: {
      '200': { description: summary, content: { [type]: {} } },
      default: { description: 'An error: `code`, `message` and `status`', content: { 'application/json': {} } },
    },
  };
}
