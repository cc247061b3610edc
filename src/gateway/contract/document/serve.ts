import { FILES } from './bundle.js';
import { isSecured, METHODS } from './operations.js';
import { isMapping, leaveOut, type Mapping } from './references.js';
import { serverPaths } from './servers.js';

const POLICY = 'x-petgate';
const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'Your API key, sent as `Authorization: Bearer <API_KEY>`.',
};

/** The document for clients, as JSON: the gateway is the server, and its key the credential; our policy is no part. */
export function serve(document: Mapping, base: string): Buffer {
  const [name, scheme] = bearerOf(document);
  const { security } = document;
  leaveOut(document, POLICY);
  document['servers'] = [{ url: base || '/' }];
  document['security'] = [{ [name]: [] }];
  const components = isMapping(document['components']) ? document['components'] : {};
  document['components'] = { ...components, securitySchemes: { [name]: scheme } };
  const { paths } = document;
  for (const item of isMapping(paths) ? Object.values(paths) : []) {
    if (!isMapping(item)) continue;
    leaveOut(item, POLICY);
    serveServers(item);
    for (const method of METHODS) {
      const operation = item[method];
      if (!isMapping(operation)) continue;
      const secured = isSecured(operation['security'] ?? security);
      leaveOut(operation, POLICY);
      leaveOut(operation, 'security');
      if (!secured) operation['security'] = [];
      serveServers(operation);
    }
  }
  // What other files say of paths is not shown either.
  const hide =
    document[FILES] === undefined ? undefined : (key: string, value: unknown) => (key === POLICY ? undefined : value);
  return Buffer.from(JSON.stringify(document, hide));
}

function serveServers(holder: Mapping): void {
  const [path] = serverPaths(holder['servers']);
  if (path !== undefined) holder['servers'] = [{ url: path || '/' }];
}

/** The scheme of the document where it has one of this kind: it may say more of it. */
function bearerOf(document: Mapping): readonly [string, unknown] {
  const { components } = document;
  const schemes =
    isMapping(components) && isMapping(components['securitySchemes']) ? components['securitySchemes'] : {};
  const found = Object.entries(schemes).find(
    ([, scheme]) =>
      isMapping(scheme) && scheme['type'] === 'http' && String(scheme['scheme']).toLowerCase() === 'bearer',
  );
  return found ?? ['apiKey', BEARER];
}
