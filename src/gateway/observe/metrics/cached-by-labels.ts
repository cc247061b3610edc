/** Returns a cached `make`: finding a child by its labels in prom-client costs more than counting. */
export function cachedByLabels<Child>(
  make: (first: string, second: string) => Child,
): (first: string, second: string) => Child {
  const children = new Map<string, Map<string, Child>>();
  return (first, second) => {
    let row = children.get(first);
    if (row === undefined) children.set(first, (row = new Map<string, Child>()));
    let child = row.get(second);
    if (child === undefined) row.set(second, (child = make(first, second)));
    return child;
  };
}
