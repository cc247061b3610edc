import type { Link } from './link.js';

/** Members read at once by default. */
const IDS_AT_ONCE = 64;

/** Returns up to `count` members of the sorted set `key` after `afterId`, in order. */
export async function idsAfter(
  link: Link,
  key: string,
  afterId: string | null,
  count: number,
): Promise<readonly string[]> {
  const from = afterId === null ? '-' : `(${afterId}`;
  const found = (await link.command('zrangebylex', key, from, '+', 'LIMIT', '0', count.toString())) as Buffer[];
  return found.map((id) => id.toString());
}

/** Yields the members of the sorted set `key` after `afterId`, in order, up to `atOnce` at a time. */
export async function* idsIn(
  link: Link,
  key: string,
  afterId: string | null,
  atOnce = IDS_AT_ONCE,
): AsyncGenerator<readonly string[]> {
  for (let after = afterId; ;) {
    const ids: readonly string[] = await idsAfter(link, key, after, atOnce);
    if (ids.length === 0) return;
    yield ids;
    after = ids.at(-1) ?? null;
  }
}

/** Returns up to `count` records that `read` returns for those members; skips members without one. */
export async function pageOf<R>(
  link: Link,
  key: string,
  afterId: string | null,
  count: number,
  read: (id: string) => Promise<R | undefined>,
): Promise<readonly R[]> {
  const records: R[] = [];
  for await (const ids of idsIn(link, key, afterId)) {
    const found = await Promise.all(ids.map(read));
    records.push(...found.filter((record) => record !== undefined));
    if (records.length >= count) break;
  }
  return records.slice(0, count);
}
