import type { RootDatabase } from 'lmdb';

/** One LMDB file: rows are bytes under text names; `rows.ts` says which. */
export type Store = RootDatabase<Buffer, string>;

/** A row in memory of its own: lmdb answers from one buffer that the next read overwrites. */
export function copyOf(store: Store, name: string): Buffer | undefined {
  const bytes = store.getBinaryFast(name);
  if (bytes === undefined) return undefined;
  const copy = Buffer.allocUnsafe(bytes.length);
  copy.set(bytes.subarray(0, copy.length));
  return copy;
}
