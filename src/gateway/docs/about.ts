import { list, mapping, textIn, type Mapping } from '../contract/document/references.js';

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
