import { isMapping, type Mapping } from '../document/references.js';
import { tagName } from './group.js';

/** What the reference shows of a document besides its operations. */
export interface About {
  /** `API` if it has none. */
  readonly title: string;
  /** Empty if it has none, like the descriptions of tags. */
  readonly summary: string;
  /** The tags listed at its top level, in its order. */
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** The example errors of its shared responses. */
  readonly errors: readonly ErrorRow[];
}

export interface ErrorRow {
  readonly code: string;
  readonly status: number;
  readonly message: string;
}

/** Reads the document's title, summary, tags and errors; ignores members that do not have OpenAPI's form. */
export function aboutOf({ info, tags, components }: Mapping): About {
  const { title, summary } = mapping(info);
  const described = Array.isArray(tags) ? tags.map(mapping) : [];
  return {
    title: textOr(title, 'API'),
    summary: textOr(summary, ''),
    tags: described.flatMap(({ name, description }) =>
      typeof name === 'string' ? [{ name: tagName(name), description: textOr(description, '') }] : [],
    ),
    errors: Object.values(mapping(mapping(components)['responses'])).flatMap(errorsIn),
  };
}

function errorsIn(response: unknown): readonly ErrorRow[] {
  const examples = Object.values(mapping(mapping(response)['content'])).flatMap((media) =>
    Object.values(mapping(mapping(media)['examples'])),
  );
  return examples.flatMap((example) => {
    const { code, status, message } = mapping(mapping(example)['value']);
    const isError = typeof code === 'string' && typeof status === 'number' && typeof message === 'string';
    return isError ? [{ code, status, message }] : [];
  });
}

function mapping(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
