import type { Path } from '../config/files/yaml-file.js';
import type { Report } from './document/findings.js';
import type { Mapping } from './document/references.js';
import type { Operation } from './operation.js';

/** Operations that the gateway answers itself. What it shows a key of all its windows: */
export const OWN_USAGE = 'getOwnUsage';
export const OPENAPI = 'getOpenapi';
/** What explains the others. */
export const DOCS = 'getDocs';
export const DOCS_FILE = 'getDocsFile';
export const OWN_IDS: ReadonlySet<unknown> = new Set([OWN_USAGE, OPENAPI, DOCS, DOCS_FILE]);

/** The gateway's own operation of this name; undefined where there is none. */
export function ownOperation(operations: readonly Operation[], wanted: string): Operation | undefined {
  return operations.find(({ id, upstream }) => id === wanted && upstream === 'gateway');
}

interface Stated {
  readonly operationId: unknown;
  readonly upstream: string;
  readonly operation: { readonly path: string };
  readonly at: Path;
}

/** Path items, below `prefix`, of all own operations that a document doesn't name; nothing of its own may be there. */
export function ownItems(prefix: string, stated: readonly Stated[], report: Report): Mapping {
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
  const items = [
    item('/usage', OWN_USAGE, 'Plan, limits, usage and ban of the key that asks', 'application/json'),
    item('/openapi.json', OPENAPI, 'This document', 'application/json', { security: [] }),
    item('/docs', DOCS, 'The reference as a page', 'text/html', { security: [] }),
    item('/docs/{file}', DOCS_FILE, 'A file of the page', '*/*', { security: [], parameters: [FILE] }),
  ];
  return Object.fromEntries(
    items.filter(({ get }) => !named.has(get.operationId)).map(({ path, get }) => [prefix + path, { get }]),
  );
}

const FILE = {
  name: 'file',
  in: 'path',
  required: true,
  schema: { type: 'string', enum: ['page.css', 'page.js', 'swagger-ui.css', 'swagger-ui-bundle.js'] },
};

function item(path: string, operationId: string, summary: string, type: string, more: Mapping = {}) {
  const get = {
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
  return { path, get };
}
