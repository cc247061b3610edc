import type { RootDatabase } from 'lmdb';

/** One LMDB file: rows are bytes under text names (rows.ts). */
export type Store = RootDatabase<Buffer, string>;

const DOUBLE_BYTES = 8;

/** Returns the number in a row; 0 if there is none. */
export function doubleIn(store: Store, name: string): number {
  return store.getBinaryFast(name)?.readDoubleLE() ?? 0;
}

export function putDouble(store: Store, name: string, value: number): void {
  store.putSync(name, doubleOf(value));
}

/** Returns the bytes of such a row. */
export function doubleOf(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(DOUBLE_BYTES);
  bytes.writeDoubleLE(value);
  return bytes;
}
