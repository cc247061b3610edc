import type { Operation } from '../../src/gateway/contract/operation/operation.js';

/** A made-up operation: `GET /v1/pets` but for what is given. */
export function makeOperation(more: Partial<Operation> = {}): Operation {
  return {
    ...{ id: 'listPets', method: 'GET', path: '/v1/pets', upstream: 'pets', cost: 1, secured: true, scope: null },
    ...{ hasBody: false, stability: null, websocket: false, deadlineMs: null, bodyBytes: null, stream: null },
    ...{ metered: null, sunsetAtMs: null, headers: [], tags: [], summary: '', parameters: [] },
    ...more,
  };
}
