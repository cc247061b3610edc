import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import { ConfigError } from '../config/files/problem.js';
import type { CredentialLocations } from '../refusals/credential-location.js';
import { hashOf } from '../config/fingerprint.js';
import type { Path } from '../config/files/yaml-file.js';
import { ANY_PATH, anyPathDocument } from './document/any-path.js';
import { Findings } from './document/findings.js';
import { openDocument } from './document/open.js';
import { locationsIn } from './document/security.js';
import { serve } from './served/serve.js';
import { nameOperations } from './names.js';
import type { RouteTable } from './operation.js';
import { ownItems } from './own.js';
import { buildRoutes, type PathRules } from './path/routes.js';
import { shapeOf } from './path/segments.js';
import { findOperations, sharedPath, type LoadedOperation } from './read.js';
import { aboutOf, type About } from './served/about.js';
import type { Written } from './served/parts.js';

/** With the document as it is served. */
export interface Contract extends Written {
  readonly routes: RouteTable;
  readonly about: About;
  /** Plain, as `routes` are not: to make them again elsewhere. */
  readonly pathRules: PathRules;
  /** Short, of the document. */
  readonly hash: string;
}

export interface LoadedContract extends Contract {
  /** What can be lived with, a line each. */
  readonly warnings: readonly string[];
  /** Every file that was read. */
  readonly files: readonly string[];
  /** Where keys are sent by its securitySchemes: what `credentials` in the settings could say. */
  readonly credentials: CredentialLocations;
}

/** That of the animal store. */
const SHIPPED = join(packageRoot, 'config/openapi.yaml');

/** What the settings say of a contract. */
export interface ContractSettings {
  /** OpenAPI Overlay documents, applied in this order. */
  readonly overlays?: readonly string[];
  /** Instead of the path of the document's servers. */
  readonly basePath?: string | null;
  /** Where clients send their key; Bearer when left out. */
  readonly credentials?: CredentialLocations;
  /** Where the gateway's own operations are that the document doesn't name; null: nowhere. */
  readonly ownPaths?: string | null;
  /** What becomes of paths that upstreams may read as others; `refuse` when left out. */
  readonly similarPaths?: PathRules['similar'];
  /** Whether there are pages for holders of keys; null: of the shipped one alone. */
  readonly account?: boolean | null;
  /** No operation may take longer than its upstream's. */
  readonly upstreams?: Readonly<Record<string, { readonly deadlineMs: number }>>;
}

/**
 * Reads the OpenAPI document with its overlays, and derives the routes from it.
 * @param path null: there is none, and every path is forwarded
 * @throws ConfigError with every problem, each with file, line and column
 */
export function loadContract(path: string | null = SHIPPED, settings: ContractSettings = {}): LoadedContract {
  const findings = new Findings();
  try {
    return deriveContract(path, settings, findings);
  } catch (error) {
    const message = `can't be read as an OpenAPI document: ${(error as Error).message}`;
    const unread = { ...findings.location([], 'value'), path: '', message };
    throw new ConfigError(error instanceof ConfigError ? error.problems : [unread], findings.files);
  }
}

function deriveContract(path: string | null, settings: ContractSettings, findings: Findings): LoadedContract {
  const { overlays = [], basePath = null, ownPaths = null, credentials = ['bearer'] } = settings;
  const { upstreams } = settings;
  const isShipped = path === SHIPPED;
  const account = (settings.account ?? isShipped) ? (isShipped ? '' : ownPaths) : null;
  const { document, removed } = openDocument(path ?? anyPathDocument(), overlays, findings);
  const base = basePath ?? sharedPath(document['servers'], ['servers'], findings) ?? '';
  const stated = findOperations(document, base, findings);
  if (stated.length === 0) findings.warning(['paths'], 'key', 'there is no operation here: every request gets 404');
  const own = ownPaths === null ? {} : ownItems(ownPaths, stated, account, findings.problem);
  const found = withoutTwins([...stated, ...findOperations({ paths: own }, '', findings)], findings);
  if (upstreams !== undefined) checkUpstreams(found, upstreams, findings);
  const names = nameOperations(found, findings.warning);
  const warnings = findings.end();
  // Before it is served, with our own.
  const proposed = locationsIn(document);
  const served = serve(document, base, own, credentials);
  const operations = found.map(({ operation, template }, index) => ({
    id: names[index]!,
    ...operation,
    ...(path === null && template === ANY_PATH ? { anyPath: true } : {}),
  }));
  const pathRules: PathRules = {
    removed: removed.map((path) => (path.base ?? base) + path.template),
    similar: settings.similarPaths ?? 'refuse',
  };
  return {
    routes: buildRoutes(operations, pathRules),
    pathRules,
    credentials: proposed,
    ...served,
    about: aboutOf(document),
    hash: hashOf(served.document),
    warnings,
    files: findings.files,
  };
}

/** Of two operations of one method, whose paths differ in names of parameters at most, the first counts. */
function withoutTwins(found: readonly LoadedOperation[], findings: Findings): readonly LoadedOperation[] {
  const first = new Map<string, LoadedOperation>();
  return found.filter((each) => {
    const key = `${each.method} ${shapeOf(each.operation.path)}`;
    const { template } = first.get(key) ?? {};
    if (template === undefined) first.set(key, each);
    else findings.warning(each.at, 'key', `left out: no request would come here; ${template} is the same path`);
    return template === undefined;
  });
}

/** Upstreams that nobody configured, and deadlines that are longer than those of their upstream. */
function checkUpstreams(
  found: readonly LoadedOperation[],
  upstreams: NonNullable<ContractSettings['upstreams']>,
  findings: Findings,
): void {
  const unknown = new Map<string, { readonly first: Path; readonly count: number }>();
  for (const { operation, upstream, at } of found) {
    if (upstream === 'gateway') continue;
    const settings = upstreams[upstream];
    const { first, count } = unknown.get(upstream) ?? { first: at, count: 0 };
    if (settings === undefined) unknown.set(upstream, { first, count: count + 1 });
    else if (operation.deadlineMs !== null && operation.deadlineMs > settings.deadlineMs)
      findings.problem(
        policyPath(at, 'deadline', findings) ?? at,
        'value',
        `upstreams.${upstream}.deadline is ${settings.deadlineMs} ms; say no more than that here, or raise it there`,
      );
  }
  for (const [upstream, { first, count }] of unknown)
    findings.warning(
      policyPath(first, 'upstream', findings) ?? [],
      'value',
      `the settings have no upstream "${upstream}": ` +
        `${count} ${count === 1 ? 'operation answers' : 'operations answer'} 501`,
    );
}

/** Where a field of the policy of an operation is said: by itself, by its path, or by the document; or nowhere. */
function policyPath(at: Path, field: string, findings: Findings): Path | undefined {
  const locations = [at, at.slice(0, 2), []].map((holder) => [...holder, 'x-petgate', field]);
  return locations.find((location) => findings.locate(location, 'value') !== undefined);
}
