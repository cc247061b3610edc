/**
 * What `read` gives. Where it throws an error of one of these names, undefined, and its message is one more of
 * `problems`. By name: who asks may not have loaded what throws it.
 */
export function collect<T>(problems: string[], names: readonly string[], read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error) || !names.includes(error.name)) throw error;
    problems.push(error.message);
    return undefined;
  }
}
