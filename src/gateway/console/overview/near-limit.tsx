import { KeyPage } from '../../actions/schemas.js';
import { percentUsed } from '../../pages/components/share.js';
import { Table } from '../../pages/components/table.js';
import { CUSTOMER, FULLEST, KEY, linesOf, PLAN, type Line } from '../keys/list.js';
import { CONSOLE, type Visit } from '../visit/page.js';

const LIST = 'GET /admin/v1/keys';
const PERCENT = '80';
const READ = 20;
const SHOWN = 5;
/** Looking for these keys reads up to 2,000: visitors share what was found. */
const KEPT_MS = 60_000;

export interface NearLimit {
  readonly lines: readonly Line[];
  /** Whether not all keys were looked at. */
  readonly hasMore: boolean;
}

const kept = new WeakMap<Visit['samples'], { readonly atMs: number; readonly found: Promise<NearLimit> }>();

/** Returns keys that have used 80 % of a window, as of the last minute; null if the visitor may not see keys. */
export async function readNearLimit(visit: Visit): Promise<NearLimit | null> {
  const { api, samples, nowMs } = visit;
  if (!api.may(LIST)) return null;
  const last = kept.get(samples);
  if (last !== undefined && nowMs < last.atMs + KEPT_MS) return last.found;
  const found = findNearLimit(visit);
  kept.set(samples, { atMs: nowMs, found });
  // The next request tries again.
  found.catch(() => kept.delete(samples));
  return found;
}

async function findNearLimit(visit: Visit): Promise<NearLimit> {
  const query = { used: PERCENT, order: 'newest', limit: String(READ) };
  const { keys, cursor } = await visit.api.ask(KeyPage, LIST, { query });
  const lines = await linesOf(visit, keys);
  return { lines: lines.toSorted((one, other) => usedOf(other) - usedOf(one)), hasMore: cursor !== null };
}

function usedOf({ standing }: Line): number {
  return Math.max(0, ...(standing?.windows ?? []).map((window) => percentUsed(window) ?? 0));
}

export function NearLimitTable({ lines, hasMore }: NearLimit) {
  return (
    <>
      <h2>Near a limit</h2>
      <Table
        caption={`Keys that have used ${PERCENT} % of a window${hasMore ? ', the newest only' : ''}`}
        empty={hasMore ? 'None of the newest keys.' : 'None.'}
        rows={lines.slice(0, SHOWN)}
        columns={[KEY, CUSTOMER, PLAN, FULLEST]}
      />
      <p>
        <a href={`${CONSOLE}/keys?used=${PERCENT}`}>All keys near a limit</a>
      </p>
    </>
  );
}
