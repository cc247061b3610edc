/** What lmdb reports for a file or environment that must be reopened. */
const DAMAGE = /MDB_(?:CORRUPTED|PAGE_NOTFOUND|PANIC|BAD_TXN|BAD_RSLOT|INVALID|PROBLEM|CURSOR_FULL|PAGE_FULL)/;

export function isDamage(error: unknown): boolean {
  return error instanceof Error && DAMAGE.test(error.message);
}
