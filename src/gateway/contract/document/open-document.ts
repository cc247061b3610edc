import { upgradeFromTwoToThree } from '@scalar/openapi-upgrader/2.0-to-3.0';
import { bundle, inlinePaths } from './bundle.js';
import type { Findings } from './findings.js';
import { applyOverlays } from './overlay.js';
import type { Mapping } from './references.js';
import { rememberPaths, type RemovedPath } from './removed.js';
import { readContract } from './source.js';

/**
 * Returns the complete document as OpenAPI 3: with the files that it refers to, and with the overlays applied.
 * @param source the path of its file, or the document itself
 * @throws ConfigError for a file that cannot be read or is not an OpenAPI document
 */
export function openDocument(
  source: string | Mapping,
  overlays: readonly string[],
  findings: Findings,
): { readonly document: Mapping; readonly removed: readonly RemovedPath[] } {
  const document = typeof source === 'string' ? openFile(source, findings) : source;
  const removedFrom = rememberPaths(document);
  applyOverlays(document, overlays, findings);
  inlinePaths(document, findings);
  return { removed: removedFrom(document), document: toOpenApi3(document, findings) };
}

function openFile(path: string, findings: Findings): Mapping {
  findings.files.push(path);
  const { value, locate } = readContract(path);
  findings.locate = locate;
  const document = value as Mapping;
  bundle(path, document, findings);
  return document;
}

function toOpenApi3(document: Mapping, findings: Findings): Mapping {
  const { openapi, swagger } = document;
  // Without quotes, YAML reads the version as a number.
  if (/^3(?:\.[012]|$)/.test(String(openapi))) return document;
  if (/^2(?:\.0|$)/.test(String(swagger))) return upgradeFromTwoToThree({ ...document, swagger: '2.0' }) as Mapping;
  findings.problem(
    [openapi === undefined && swagger !== undefined ? 'swagger' : 'openapi'],
    'value',
    'must be the version of OpenAPI: 3.0, 3.1 or 3.2 (or swagger: 2.0)',
  );
  findings.end();
  return document;
}
