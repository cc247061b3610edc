import type { Link } from './link.js';

/** Members read at once, where nothing else is said. */
const IDS_AT_ONCE = 64;

/** Up to `count` members of the sorted set `key` after `afterId`, in order. */
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

/** Members of the sorted set `key` after `afterId`, in order, up to `atOnce` at a time. */
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

/** A page of what `read` gives of those members, `count` at most; members without a record are passed over. */
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
