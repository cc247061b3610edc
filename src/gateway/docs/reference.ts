import type { Settings } from '../config/schema/gateway.js';
import { exampleRequest } from '../contract/example.js';
import { list, mapping, textIn, type Mapping } from '../contract/document/references.js';
import type { Contract } from '../contract/load.js';
import type { Operation } from '../contract/operation/operation.js';
import { DOCS, DOCS_FILE, OPENAPI, OWN_USAGE, ownOperation } from '../contract/own.js';
import { CATALOGUE } from '../refusals/catalogue.js';
import { worded, type CredentialLocations } from '../refusals/credential-location.js';
import { createSource } from './source.js';

/** The content of the reference pages. */
export type Reference = ReturnType<typeof referenceOf>;

export function referenceOf(contract: Contract, { plans, credentials }: Pick<Settings, 'plans' | 'credentials'>) {
  const { routes } = contract;
  const pathOf = (id: string): string => ownOperation(routes.operations, id)?.path ?? '';
  // The only one of the gateway's own operations that clients of the API call.
  const operations = routes.operations.filter(({ id, upstream }) => upstream !== 'gateway' || id === OWN_USAGE);
  const file = (name: string): string => pathOf(DOCS_FILE).replace('{file}', name);
  const { root, read } = createSource(contract.document);
  const { tags, errors, ...about } = aboutOf(root());
  return {
    ...{ ...about, operations, plans, credentials, read, example: exampleRequest(contract, root) },
    groups: groupsOf(operations, tags),
    errors: errorsOf(errors, credentials),
    /** Where the pages, their files and the document are; empty if they are not served. */
    paths: { docs: pathOf(DOCS), openapi: pathOf(OPENAPI), file },
  };
}

/** Returns what the reference shows of a document besides its operations; ignores what does not have OpenAPI's form. */
export function aboutOf({ info, tags, components }: Mapping) {
  const { title, summary, description } = mapping(info);
  const responses = Object.values(mapping(mapping(components)['responses'])).map(mapping);
  const media = responses.flatMap(({ content }) => Object.values(mapping(content))).map(mapping);
  const examples = media.flatMap(({ examples: shown }) => Object.values(mapping(shown))).map(mapping);
  return {
    ...{ title: textIn(title) || 'API', summary: textIn(summary), description: textIn(description) },
    tags: new Map(list(tags).map((tag) => [textIn(mapping(tag)['name']), textIn(mapping(tag)['description'])])),
    errors: examples.flatMap((example) => {
      const { code, status, message } = mapping(example['value']);
      const isError = typeof code === 'string' && typeof status === 'number' && typeof message === 'string';
      return isError ? [{ code, status, message }] : [];
    }),
  };
}

/** Groups operations in the document's order: described tags, then other tags, then null for those without a tag. */
function groupsOf(operations: readonly Operation[], described: ReadonlyMap<string, string>) {
  const groups = new Map<string | null, Operation[]>([...described.keys()].map((name) => [name, []]));
  for (const operation of operations)
    for (const tag of operation.tags) {
      const members = groups.get(tag);
      if (members === undefined) groups.set(tag, [operation]);
      else members.push(operation);
    }
  const untagged = operations.filter(({ tags }) => tags.length === 0);
  return [...groups.set(null, untagged)]
    .map(([name, members]) => ({ name, description: described.get(name ?? '') ?? '', operations: members }))
    .filter(({ operations: members }) => members.length > 0);
}

/** Returns every error a client can get: the gateway's catalogue, and the contract's examples of upstream errors. */
function errorsOf(examples: ReturnType<typeof aboutOf>['errors'], credentials: CredentialLocations) {
  const own = Object.entries(CATALOGUE).map(([code, { status, message }]) => {
    return { code, status, message: worded(message, credentials) };
  });
  const rows = new Map([...examples, ...own].map((error) => [error.code, error]));
  return [...rows.values()].sort((one, other) => one.status - other.status || one.code.localeCompare(other.code));
}
