import type { CredentialLocations } from '../../refusals/credential-location.js';
import { stringifyExact } from '../../../shared/text/exact-numbers.js';
import { FILES } from '../document/bundle.js';
import { FullPaths } from '../document/full-paths.js';
import { isSecured, operationsOf, POLICY } from '../document/operations.js';
import { isMapping, leaveOut, list, mapping, type Mapping } from '../document/references.js';
import { schemesOf } from '../document/security.js';

const OWN_TAG = { name: 'gateway', description: 'Answered by the gateway itself, at no cost.' };

/**
 * Writes the document for clients as JSON: the gateway is the server, its key the credential, and `x-petgate` is left
 * out. Changes `document`.
 * @param own path items of the gateway's own operations
 */
export function serve(document: Mapping, base: string, own: Mapping, credentials: CredentialLocations): Buffer {
  const schemes = schemesOf(document, credentials);
  const { security } = document;
  leaveOut(document, POLICY);
  document['servers'] = [{ url: '/' }];
  document['security'] = Object.keys(schemes).map((name) => ({ [name]: [] }));
  document['components'] = { ...mapping(document['components']), securitySchemes: schemes };
  const full = new FullPaths(mapping(document['paths']), base);
  const paths: Mapping = { ...full.paths, ...own };
  document['paths'] = paths;
  const tags = list(document['tags']).filter((tag) => isMapping(tag) && tag['name'] !== OWN_TAG.name);
  if (Object.keys(own).length > 0) document['tags'] = [...tags, OWN_TAG];
  for (const item of Object.values(paths).filter(isMapping)) {
    leaveOut(item, POLICY);
    for (const [, operation] of operationsOf(item)) {
      if (!isMapping(operation)) continue;
      const secured = isSecured(operation['security'] ?? security);
      leaveOut(operation, POLICY);
      leaveOut(operation, 'security');
      if (!secured) operation['security'] = [];
    }
  }
  // Bundled files may contain our policy, too.
  const hide =
    document[FILES] === undefined ? undefined : (key: string, value: unknown) => (key === POLICY ? undefined : value);
  return Buffer.from(full.rewrite(stringifyExact(document, hide)));
}
