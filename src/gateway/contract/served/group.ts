/** A part of a large reference: a tag; null for operations without tags. */
export type Group = string | null;

/** Query parameters. Untagged operations have their own, so that no tag's name can be mistaken for it. */
const TAG = 'tag';
const UNTAGGED = 'untagged';

/** Returns the tags of an operation in the document's order; ignores what is not text. */
export function tagsIn({ tags }: { readonly tags?: unknown }): readonly string[] {
  if (!Array.isArray(tags)) return [];
  return [...new Set(tags.filter((tag) => typeof tag === 'string').map(tagName))];
}

/** Makes a tag usable in URLs: half a surrogate pair becomes U+FFFD. */
export function tagName(text: string): string {
  return Buffer.from(text).toString();
}

/** Returns the query that selects a group: `?tag=a%20b` or `?untagged`. */
export function groupQuery(group: Group): string {
  return group === null ? `?${UNTAGGED}` : `?${TAG}=${encodeURIComponent(group)}`;
}

/** Returns the group that a query selects; undefined if none. @param query with its `?`, or empty */
export function groupIn(query: string): Group | undefined {
  const parameters = new URLSearchParams(query);
  return parameters.get(TAG) ?? (parameters.has(UNTAGGED) ? null : undefined);
}
