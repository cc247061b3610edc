import type { Link } from './link.js';

/** Members read at once, where nothing else is said. */
const IDS_AT_ONCE = 64;

/** Members of the sorted set `key` after `afterId`, in order, up to `atOnce` at a time. */
export async function* idsIn(
  link: Link,
  key: string,
  afterId: string | null,
  atOnce = IDS_AT_ONCE,
): AsyncGenerator<readonly string[]> {
  for (let after = afterId; ;) {
    const from = after === null ? '-' : `(${after}`;
    const found = (await link.command('zrangebylex', key, from, '+', 'LIMIT', '0', atOnce.toString())) as Buffer[];
    if (found.length === 0) return;
    const ids = found.map((id) => id.toString());
    yield ids;
    after = ids.at(-1) ?? null;
  }
}
