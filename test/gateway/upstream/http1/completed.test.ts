import t from 'tap';
import { complete } from '../../../../src/gateway/upstream/http1/completed.js';
import type { ResponseHandler } from '../../../../src/gateway/upstream/transport.js';

function handler(onResponseEnd: () => void): ResponseHandler {
  return {
    onRequestStart: () => undefined,
    onResponseStart: () => undefined,
    onResponseData: () => undefined,
    onResponseEnd,
    onResponseError: () => undefined,
  };
}

t.test('answers that came whole in one turn end together, in their order, once all sockets were read', async (t) => {
  const ended: string[] = [];
  complete(
    handler(() => {
      ended.push('first');
      complete(handler(() => ended.push('of the next turn')));
    }),
  );
  complete(handler(() => ended.push('second')));
  t.strictSame(ended, []);
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(ended, ['first', 'second']);
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(ended, ['first', 'second', 'of the next turn']);
});
