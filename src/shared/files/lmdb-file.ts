import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Layout of an LMDB data file (liblmdb/mdb.c of lmdb 3.5): pages, each with a header. Of the two meta pages, the one
 * with the greater transaction id is current.
 */
const PAGE_HEAD_BYTES = 24;
const MAGIC = 0xbeefc0de;
const META_FLAG = 0x08;
const BRANCH_FLAG = 0x01;
const BIG_DATA_FLAG = 0x01;
const SUB_DATABASE_FLAG = 0x02;
const NODE_HEAD_BYTES = 8;
const NO_ROOT = 0xffff_ffff_ffff_ffffn;
const ROOT_AT = 40;
const MIN_PAGE_BYTES = 512;
const MAX_PAGE_BYTES = 65_536;

interface Meta {
  readonly pageBytes: number;
  /** Root pages of two trees: free pages, and rows. */
  readonly roots: readonly bigint[];
  readonly rows: number;
  readonly lastPage: number;
  readonly transaction: bigint;
}

interface FileState {
  /** Why opening the file would crash the process (SIGBUS, SIGSEGV) or lose its data; null if it is intact. */
  readonly damage: string | null;
  /** Number of entries in the main tree, where each named database is one entry. */
  readonly rows: number;
}

/** Inspects an LMDB file without mapping it; undefined if there is none. An empty file counts as new. */
export function lmdbFileState(path: string): FileState | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return { damage: null, rows: 0 };
    const meta = metaIn(file);
    if (meta === undefined) return { damage: 'its header is destroyed', rows: 0 };
    const pages = Math.floor(size / meta.pageBytes);
    // The file may be shorter than its header says if the last pages are free: then check every page in use.
    const isWhole = pages > meta.lastPage || isEveryPageThere(file, meta, pages);
    const expected = (meta.lastPage + 1) * meta.pageBytes;
    return { damage: isWhole ? null : `it has ${size} bytes of ${expected}`, rows: meta.rows };
  } finally {
    closeSync(file);
  }
}

function metaIn(file: number): Meta | undefined {
  const first = readMeta(file, 0);
  const second = first && readMeta(file, first.pageBytes);
  if (first === undefined || second === undefined) return undefined;
  return first.transaction > second.transaction ? first : second;
}

function readMeta(file: number, at: number): Meta | undefined {
  const page = read(file, at, 168);
  if (page === undefined || (page.readUInt16LE(18) & META_FLAG) === 0) return undefined;
  const meta = page.subarray(PAGE_HEAD_BYTES);
  const pageBytes = meta.readUInt32LE(24);
  if (meta.readUInt32LE(0) !== MAGIC || pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES) return undefined;
  return {
    pageBytes,
    roots: [meta.readBigUInt64LE(24 + ROOT_AT), meta.readBigUInt64LE(72 + ROOT_AT)],
    rows: Number(meta.readBigUInt64LE(72 + 32)),
    lastPage: Number(meta.readBigUInt64LE(120)),
    transaction: meta.readBigUInt64LE(128),
  };
}

/** Returns whether every page that the trees refer to is in the file. */
function isEveryPageThere(file: number, { roots, pageBytes }: Meta, pages: number): boolean {
  const open = [...roots];
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (number === NO_ROOT) continue;
    const page = number < pages ? read(file, Number(number) * pageBytes, pageBytes) : undefined;
    if (page?.readBigUInt64LE(0) !== number) return false;
    for (const next of pagesIn(page)) {
      if (next.count === null) open.push(next.page);
      else if (next.page + next.count > pages) return false;
    }
  }
  return true;
}

/** Yields the pages that a page refers to: tree pages, and long values, which occupy `count` consecutive pages. */
function* pagesIn(page: Buffer): Generator<{ readonly page: bigint; readonly count: bigint | null }> {
  const isBranch = (page.readUInt16LE(18) & BRANCH_FLAG) !== 0;
  const nodes = page.readUInt16LE(20) / 2;
  for (let n = 0; n < nodes; n += 1) {
    const node = page.subarray(PAGE_HEAD_BYTES + page.readUInt16LE(PAGE_HEAD_BYTES + 2 * n));
    const flags = node.readUInt16LE(4);
    const data = NODE_HEAD_BYTES + node.readUInt16LE(6);
    if (isBranch) yield { page: BigInt(node.readUInt32LE(0)) + (BigInt(flags) << 32n), count: null };
    else if ((flags & BIG_DATA_FLAG) !== 0)
      yield { page: node.readBigUInt64LE(data), count: node.readBigUInt64LE(data + 16) };
    else if ((flags & SUB_DATABASE_FLAG) !== 0) yield { page: node.readBigUInt64LE(data + ROOT_AT), count: null };
  }
}

/** Reads `bytes` bytes at offset `at`; undefined if the file ends before that. */
function read(file: number, at: number, bytes: number): Buffer | undefined {
  const buffer = Buffer.alloc(bytes);
  return readSync(file, buffer, 0, bytes, at) === bytes ? buffer : undefined;
}
