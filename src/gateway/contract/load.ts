import { join } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';
import { ConfigError } from '../config/files/problem.js';
import type { CredentialLocations } from '../refusals/credential-location.js';
import { hashOf } from '../config/fingerprint.js';
import type { Settings } from '../config/schema/gateway.js';
import type { UpstreamSettings } from '../config/schema/upstream.js';
import type { Path } from '../config/files/yaml-file.js';
import { ANY_PATH, anyPathDocument } from './document/any-path.js';
import { Findings } from './document/findings.js';
import { openDocument } from './document/open-document.js';
import { locationsIn } from './document/security.js';
import { serve } from './served/serve.js';
import { nameOperations } from './names.js';
import type { RouteTable } from './operation/operation.js';
import { ownItems } from './own.js';
import { buildRoutes, type PathRules } from './path/routes.js';
import { shapeOf } from './path/segments.js';
import { findOperations, sharedPath, type LoadedOperation } from './read.js';

/** The routes, and the document as it is served. */
export interface Contract {
  /** JSON in UTF-8. */
  readonly document: Buffer;
  readonly routes: RouteTable;
  /** Plain data, unlike `routes`, so that another thread can rebuild the routes from it. */
  readonly pathRules: PathRules;
  /** A short hash of the served document. */
  readonly hash: string;
}

export interface LoadedContract extends Contract {
  /** One line each. */
  readonly warnings: readonly string[];
  readonly files: readonly string[];
  /** Where clients send keys according to its securitySchemes: a proposal for `credentials` in the settings. */
  readonly credentials: CredentialLocations;
}

/** The contract of the animal store. */
const SHIPPED = join(packageRoot, 'config/openapi.yaml');

/** The settings that affect a contract. Left out: no overlays, no operations of the gateway's own, keys by Bearer. */
export interface ContractSettings extends Partial<
  Pick<Settings, 'overlays' | 'base_path' | 'own_paths' | 'credentials' | 'similar_paths' | 'account'>
> {
  /** The configured upstreams. No operation may have a longer deadline than its upstream. */
  readonly upstreams?: Readonly<Record<string, Pick<UpstreamSettings, 'deadline'>>>;
}

/**
 * Reads the OpenAPI document with its overlays, and derives the routes from it.
 * @param path null: no contract, every path is forwarded
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
  const { overlays = [], own_paths: ownPaths = null, credentials = ['bearer'], upstreams } = settings;
  const isShipped = path === SHIPPED;
  const account = (settings.account ?? isShipped) ? (isShipped ? '' : ownPaths) : null;
  const { document, removed } = openDocument(path ?? anyPathDocument(), overlays, findings);
  const base = settings.base_path ?? sharedPath(document['servers'], ['servers'], findings) ?? '';
  const stated = findOperations(document, base, findings);
  if (stated.length === 0) findings.warning(['paths'], 'key', 'there is no operation here: every request gets 404');
  const own = ownPaths === null ? {} : ownItems(ownPaths, stated, account, findings.problem);
  const found = dropDuplicates([...stated, ...findOperations({ paths: own }, '', findings)], findings);
  if (upstreams !== undefined) checkUpstreams(found, upstreams, findings);
  const names = nameOperations(found, findings.warning);
  const warnings = findings.end();
  // Before `serve` replaces the document's security schemes with the gateway's.
  const proposed = locationsIn(document);
  const served = serve(document, base, own, credentials);
  const operations = found.map(({ operation, template }, index) => ({
    id: names[index]!,
    ...operation,
    ...(path === null && template === ANY_PATH ? { anyPath: true } : {}),
  }));
  const pathRules: PathRules = {
    removed: removed.map((path) => (path.base ?? base) + path.template),
    similar: settings.similar_paths ?? 'refuse',
  };
  return {
    routes: buildRoutes(operations, pathRules),
    pathRules,
    credentials: proposed,
    document: served,
    hash: hashOf(served),
    warnings,
    files: findings.files,
  };
}

/** Drops operations whose method and path, except for parameter names, equal those of an earlier one. */
function dropDuplicates(found: readonly LoadedOperation[], findings: Findings): readonly LoadedOperation[] {
  const first = new Map<string, LoadedOperation>();
  return found.filter((each) => {
    const key = `${each.method} ${shapeOf(each.operation.path)}`;
    const { template } = first.get(key) ?? {};
    if (template === undefined) first.set(key, each);
    else findings.warning(each.at, 'key', `left out: no request would come here; ${template} is the same path`);
    return template === undefined;
  });
}

/** Reports upstreams that are not configured, and deadlines longer than their upstream's. */
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
    else if (operation.deadlineMs !== null && operation.deadlineMs > settings.deadline)
      findings.problem(
        policyPath(at, 'deadline', findings) ?? at,
        'value',
        `upstreams.${upstream}.deadline is ${settings.deadline} ms; say no more than that here, or raise it there`,
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

/** Returns where an operation's policy field is set: on itself, its path or the document; undefined if nowhere. */
function policyPath(at: Path, field: string, findings: Findings): Path | undefined {
  const locations = [at, at.slice(0, 2), []].map((holder) => [...holder, 'x-petgate', field]);
  return locations.find((location) => findings.locate(location, 'value') !== undefined);
}
