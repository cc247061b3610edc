import { isoOf } from '../../../shared/utc-day.js';
import { inAudit } from '../input/query.js';
import { AuditList } from '../schemas.js';
import { action, type Action } from '../action.js';
import { othersNow } from './gateways.js';

export const AUDIT_ACTIONS: readonly Action[] = [
  action('GET /admin/v1/audit', 'operator', 'List what was changed, and wrong admin tokens that this gateway met', {
    query: inAudit,
    gives: AuditList,
    handle: async ({ parts: { audit, engine }, query: { search, limit } }) => ({
      json: {
        changes: (await audit.changes(search, limit)).map(({ atMs, ...change }) => ({ at: isoOf(atMs), ...change })),
        refused: audit.refusals(limit).map(({ atMs, address }) => ({ at: isoOf(atMs), address })),
        gateways: await othersNow(engine),
      },
    }),
  }),
];
