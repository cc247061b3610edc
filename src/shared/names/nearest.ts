/** Returns the known name that `name` is most likely a typo of; undefined if none is close. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  // A typo changes few letters: a longer name may differ more, but a very different name is no typo.
  const reach = Math.max(1, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = reach + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > reach) continue;
    const distance = editDistance(name, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Returns `did you mean "port"?` if a name is close, else lists the known names. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length === 0 ? 'remove it' : `known here: ${known.join(', ')}`;
}

/** Returns whether the names differ by one letter added, missing or replaced, or by two neighbors swapped. */
export function isOneSlip(name: string, known: string): boolean {
  return Math.abs(name.length - known.length) <= 1 && editDistance(name, known) === 1;
}

/**
 * Returns the Levenshtein distance, but counts two swapped neighbors as one edit, unlike common libraries: `prot` is
 * one edit from `port`.
 */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforePrevious[j - 2]! + 1);
      current.push(least);
    }
    [beforePrevious, previous] = [previous, current];
  }
  return previous[b.length]!;
}
