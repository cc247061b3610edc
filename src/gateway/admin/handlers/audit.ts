import { inAudit } from '../input/query.js';
import { AuditList } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';
import { othersNow } from './gateways.js';

export const AUDIT_ROUTES: readonly Route[] = [
  route('GET /admin/v1/audit', 'operator', 'What was changed through this gateway, and wrong admin tokens', {
    query: inAudit,
    gives: AuditList,
    handle: async ({ parts: { audit, engine }, query: { search, limit } }) => ({
      json: {
        changes: audit.changes(search, limit).map(({ atMs, ...change }) => ({ at: isoOf(atMs), ...change })),
        refused: audit.refusals(limit).map(({ atMs, address }) => ({ at: isoOf(atMs), address })),
        gateways: await othersNow(engine),
      },
    }),
  }),
];

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
