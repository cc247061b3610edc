import { isMap, parseDocument, type Document, type YAMLMap, type YAMLSeq } from 'yaml';
import { CATALOGUE, type CatalogueEntry } from '../refusals/catalogue.js';

const ENTRIES: readonly (readonly [string, CatalogueEntry])[] = Object.entries(CATALOGUE);
const CODES = ['components', 'schemas', 'Error', 'properties', 'code', 'enum'];
const RESPONSES = ['components', 'responses'];
const EXAMPLES = ['content', 'application/json', 'examples'];

/** Returns the contract with every refusal of the catalogue in `Error` and in the examples; the rest is unchanged. */
export function withRefusals(contract: string): string {
  const document = parseDocument(contract);
  listCodes(document);
  const examples = (document.getIn(RESPONSES) as YAMLMap).items.flatMap(({ value }) => examplesOf(value as YAMLMap));
  for (const [code, { message, status }] of ENTRIES) {
    const own = examples.filter((example) => example.get('code') === code);
    for (const example of own) {
      example.set('message', message);
      example.set('status', status);
    }
    if (own.length === 0) addExample(document, { code, message, status });
  }
  return document.toString({ lineWidth: 0 }).replaceAll(/(: |- )\[ ([^[\]\n]*) \]/g, '$1[$2]');
}

/** Inserts new codes before the upstream's, which begin with a comment of their own. */
function listCodes(document: Document): void {
  const codes = document.getIn(CODES) as YAMLSeq<{ value: string; commentBefore?: string }>;
  const known = new Set(codes.items.map(({ value }) => value));
  const upstream = codes.items.findIndex(({ commentBefore }, index) => index > 0 && commentBefore !== undefined);
  const added = ENTRIES.map(([code]) => code).filter((code) => !known.has(code));
  codes.items.splice(upstream, 0, ...added.map((code) => document.createNode(code) as unknown as { value: string }));
}

/** Returns the errors that a response shows: one example, or several named ones. */
function examplesOf(response: YAMLMap): readonly YAMLMap[] {
  const [one, several] = [response.getIn(EXAMPLES.with(-1, 'example')), response.getIn(EXAMPLES)];
  if (isMap(one)) return [one];
  return isMap(several) ? several.items.map(({ value }) => (value as YAMLMap).get('value') as YAMLMap) : [];
}

/** Adds an example to the response that operations refer to for its status, or else to `Refused`. */
function addExample(document: Document, error: ErrorBody): void {
  const path = [...RESPONSES, responseOf(document, error.status), ...EXAMPLES];
  const single = path.with(-1, 'example');
  const before = document.getIn(single) as YAMLMap | undefined;
  if (before !== undefined) {
    document.deleteIn(single);
    document.setIn(path, document.createNode({}));
    document.setIn([...path, before.get('code')], flow(document, { value: before }));
  }
  document.setIn([...path, error.code], flow(document, { value: error }));
}

function flow(document: Document, value: object): unknown {
  return document.createNode(value, { flow: true });
}

function responseOf(document: Document, status: number): string {
  const paths = document.toJS() as { paths: Record<string, Record<string, { responses?: Responses }>> };
  const operations = Object.values(paths.paths).flatMap((path) => Object.values(path));
  const found = operations.map(({ responses }) => responses?.[String(status)]?.$ref).find((ref) => ref !== undefined);
  return found?.split('/').at(-1) ?? 'Refused';
}
type ErrorBody = Readonly<Record<'code' | 'message', string>> & { readonly status: number };
type Responses = Readonly<Record<string, { readonly $ref?: string }>>;

export function withErrorTable(page: string): string {
  const rows = ENTRIES.map(
    ([code, { status, meaning, remedy }]) => `| \`${code}\` | ${status} | ${meaning} | ${remedy} |\n`,
  );
  return page.replace(/(\|---\|---\|---\|---\|\n)(?:\|.*\n)*/, `$1${rows.join('')}`);
}
