import { EVERY_OPERATION } from '../../admission/windows.js';
import { windowView } from '../../observe/recent/view.js';
import { KeyWindows } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';

/** Where a key stands, as admission would say it of a request that costs nothing. */
export const WINDOW_ROUTES: readonly Route[] = [
  route('GET /admin/v1/keys/{id}/windows', 'read', 'What is left to a key in each window now', {
    gives: KeyWindows,
    handle: async ({ parts: { registry, engine }, id: asked }) => {
      const { id, secrets } = await registry.get(asked);
      const subject = { kind: 'key', id, secretHash: secrets[0]?.hash ?? '' } as const;
      const [verdict] = await engine.admit([{ subject, operation: EVERY_OPERATION, scope: null, cost: 0 }]);
      if (verdict === undefined || verdict.outcome === 'unknown_key') return { json: { key: id, windows: [] } };
      return { json: { key: id, windows: verdict.windows.map(windowView) } };
    },
  }),
];
