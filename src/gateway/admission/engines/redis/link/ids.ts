import type { Link } from './link.js';

/** Members read at once. */
const IDS_AT_ONCE = 64;

/** Members of the sorted set `key` after `afterId`, in order, some at a time. */
export async function* idsIn(link: Link, key: string, afterId: string | null): AsyncGenerator<readonly string[]> {
  for (let after = afterId; ;) {
    const from = after === null ? '-' : `(${after}`;
    const found = (await link.command('zrangebylex', key, from, '+', 'LIMIT', '0', IDS_AT_ONCE.toString())) as Buffer[];
    if (found.length === 0) return;
    const ids = found.map((id) => id.toString());
    yield ids;
    after = ids.at(-1) ?? null;
  }
}
