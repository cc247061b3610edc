interface PagerParts {
  readonly path: string;
  /** Query parameters of the pages, without the cursor. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Cursor of the current page; undefined for the first. */
  readonly cursor: string | undefined;
  /** Cursor of the next page; null on the last. */
  readonly next: string | null;
  /** Set both if a page has more than one list: the parameter of the cursor, and a label for the list. */
  readonly name?: string;
  readonly label?: string;
}

/** Links to the first page of a list and to the next. */
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

/** Returns `path` with the parameters that have a value. */
export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const search = searchOf(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

/** Returns the parameters that have a value. */
export function searchOf(query: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value = ''] of Object.entries(query)) if (value !== '') search.append(name, value);
  return search;
}
