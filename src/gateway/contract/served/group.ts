/** What a large reference is shown by: a tag, or null: the operations that have none. */
export type Group = string | null;

/** Parameters of the query. That of operations without a tag is another one, so that no tag is taken for it. */
const TAG = 'tag';
const UNTAGGED = 'untagged';

/** The tags of an operation as its document lists them; what is no text is passed over. */
export function tagsIn({ tags }: { readonly tags?: unknown }): readonly string[] {
  if (!Array.isArray(tags)) return [];
  return [...new Set(tags.filter((tag) => typeof tag === 'string').map(tagName))];
}

/** As addresses can say it: half a surrogate pair becomes U+FFFD. */
export function tagName(text: string): string {
  return Buffer.from(text).toString();
}

/** The query that asks for a group: `?tag=a%20b` or `?untagged`. */
export function groupQuery(group: Group): string {
  return group === null ? `?${UNTAGGED}` : `?${TAG}=${encodeURIComponent(group)}`;
}

/** @param query with its `?`, or empty. @returns undefined: it asks for no group */
export function groupIn(query: string): Group | undefined {
  const parameters = new URLSearchParams(query);
  return parameters.get(TAG) ?? (parameters.has(UNTAGGED) ? null : undefined);
}
