/** Returns the items by what `nameOf` returns for each, in their order. (Map.groupBy, which needs Node 21.) */
export function groupBy<K, T>(items: Iterable<T>, nameOf: (item: T) => K): Map<K, [T, ...T[]]> {
  const groups = new Map<K, [T, ...T[]]>();
  for (const item of items) {
    const name = nameOf(item);
    const known = groups.get(name);
    if (known === undefined) groups.set(name, [item]);
    else known.push(item);
  }
  return groups;
}
