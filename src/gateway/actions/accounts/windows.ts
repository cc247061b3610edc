import { DAY_MS, dayOf } from '../../../shared/utc-day.js';
import { windowView } from '../../observe/recent/view.js';
import type { AdmissionEngine } from '../../store/port.js';
import { KeyWindows } from '../schemas.js';
import { action, type Action } from '../action.js';
import type { Column } from '../command.js';
import { standingsOf } from './near-limit.js';

const USED_DAYS = 31;

/** What a key has left, as admission would report it for a request that costs 0, and when it was last used. */
export const WINDOW_ACTIONS: readonly Action[] = [
  action('GET /admin/v1/keys/{id}/windows', 'read', 'Show what a key has left in each window', {
    commands: {
      usage: 'keys windows <id>',
      example: '5BkxuKZHANEf',
      prints: {
        list: 'windows',
        columns: ['window', left('remaining'), left('limit'), 'reset'],
        none: 'Nothing limits this key.',
      },
    },
    gives: KeyWindows,
    handle: async ({ parts: { registry, engine }, id: asked }) => {
      const record = await registry.get(asked);
      const { id } = record;
      const [standing = null] = await standingsOf(engine, [record]);
      const nowMs = standing?.atMs ?? (await registry.nowMs());
      return {
        json: { key: id, windows: (standing?.windows ?? []).map(windowView), used: await lastUse(engine, id, nowMs) },
      };
    },
  }),
];

function left(field: string): Column {
  return [field, (row) => row[field] ?? 'unlimited'];
}

/** Returns the last UTC day with a request of this key in the past 31 days; null if there is none. */
async function lastUse({ usage }: AdmissionEngine, keyId: string, nowMs: number): Promise<string | null> {
  let last: string | null = null;
  for await (const rows of usage.rows(dayOf(nowMs - (USED_DAYS - 1) * DAY_MS), dayOf(nowMs), keyId))
    for (const { day, requests } of rows) if (requests > 0 && day > (last ?? '')) last = day;
  return last;
}
