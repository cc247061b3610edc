import type { Plans } from '../admission/plan.js';
import { CATALOGUE } from '../refusals/catalogue.js';
import type { Settings } from '../config/schema/gateway.js';
import type { Contract } from '../contract/load.js';
import type { Operation } from '../contract/operation.js';
import { DOCS, DOCS_FILE, OPENAPI, OWN_USAGE, ownOperation } from '../contract/own.js';
import type { About, ErrorRow } from '../contract/served/about.js';
import type { Group } from '../contract/served/group.js';
import { worded, type CredentialLocations } from '../refusals/credential-location.js';

/** The content of the reference pages. */
export interface Reference {
  readonly title: string;
  readonly summary: string;
  readonly operations: readonly Operation[];
  readonly groups: ReadonlyMap<Group, GroupOfOperations>;
  readonly plans: Plans;
  readonly credentials: CredentialLocations;
  /** Every error a client can get: the gateway's catalogue, and the contract's examples of upstream errors. */
  readonly errors: readonly ErrorRow[];
  readonly paths: Paths;
}

export interface GroupOfOperations {
  readonly group: Group;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** Where the pages, their files and the document are; empty if they are not served. */
interface Paths {
  readonly docs: string;
  readonly openapi: string;
  readonly file: (name: string) => string;
}

export function referenceOf(
  { routes: { operations }, about }: Pick<Contract, 'routes' | 'about'>,
  { plans, credentials }: Pick<Settings, 'plans' | 'credentials'>,
): Reference {
  const pathOf = (id: string): string => ownOperation(operations, id)?.path ?? '';
  // The only one of the gateway's own operations that clients of the API call.
  const ofApi = operations.filter(({ id, upstream }) => upstream !== 'gateway' || id === OWN_USAGE);
  return {
    title: about.title,
    summary: about.summary,
    operations: ofApi,
    groups: groupsOf(ofApi, about),
    plans,
    credentials,
    errors: errorsOf(about, credentials),
    paths: {
      docs: pathOf(DOCS),
      openapi: pathOf(OPENAPI),
      file: (name) => pathOf(DOCS_FILE).replace('{file}', name),
    },
  };
}

/** Groups operations in the document's order: described tags, then other tags, then operations without a tag. */
function groupsOf(operations: readonly Operation[], { tags }: About): ReadonlyMap<Group, GroupOfOperations> {
  const members = new Map<Group, Operation[]>(tags.map(({ name }) => [name, []]));
  const untagged: Operation[] = [];
  for (const operation of operations) {
    if (operation.tags.length === 0) untagged.push(operation);
    for (const tag of operation.tags) {
      const list = members.get(tag);
      if (list === undefined) members.set(tag, [operation]);
      else list.push(operation);
    }
  }
  members.set(null, untagged);
  const descriptions = new Map<Group, string>(tags.map(({ name, description }) => [name, description]));
  return new Map(
    [...members]
      .filter(([, { length }]) => length > 0)
      .map(([group, list]) => [group, { group, description: descriptions.get(group) ?? '', operations: list }]),
  );
}

function errorsOf({ errors }: About, credentials: CredentialLocations): readonly ErrorRow[] {
  const rows = new Map<string, ErrorRow>(
    Object.entries(CATALOGUE).map(([code, { status, message }]) => [
      code,
      { code, status, message: worded(message, credentials) },
    ]),
  );
  for (const error of errors) if (!rows.has(error.code)) rows.set(error.code, error);
  return [...rows.values()].sort((one, other) => one.status - other.status || one.code.localeCompare(other.code));
}
