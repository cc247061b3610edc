interface PagerParts {
  readonly path: string;
  /** What the pages are asked with, without the cursor. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Of the page that is shown; undefined of the first. */
  readonly cursor: string | undefined;
  /** Of the next; null after the last. */
  readonly next: string | null;
  /** The parameter that it is asked with, and what the list is of, where a page has more than one list. */
  readonly name?: string;
  readonly label?: string;
}

/** To the first page of a list, and to the next. */
export function Pager({ path, query, cursor, next, name = 'cursor', label = 'Pages of the list' }: PagerParts) {
  if (cursor === undefined && next === null) return null;
  return (
    <nav aria-label={label}>
      {cursor !== undefined && <a href={addressOf(path, query)}>First page</a>}
      {next !== null && (
        <a href={addressOf(path, { ...query, [name]: next })} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

/** `path` with those parameters that have a value. */
export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const search = searchOf(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** Those parameters that have a value. */
export function searchOf(query: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value = ''] of Object.entries(query)) if (value !== '') search.append(name, value);
  return search;
}
