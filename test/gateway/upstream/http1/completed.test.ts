import t from 'tap';
import { complete } from '../../../../src/gateway/upstream/http1/completed.js';
import type { ResponseHandler } from '../../../../src/gateway/upstream/http1/transport.js';

function handler(onResponseEnd: () => void, onFault: (error: unknown) => void = () => undefined): ResponseHandler {
  return {
    onRequestStart: () => undefined,
    onResponseStart: () => undefined,
    onResponseData: () => undefined,
    onResponseEnd,
    onResponseError: () => undefined,
    onFault,
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

t.test('one that throws is notified of its own fault, and the others end', async (t) => {
  const ended: unknown[] = [];
  const fault = new Error('of ours');
  complete(
    handler(
      () => {
        throw fault;
      },
      (error) => ended.push(error),
    ),
  );
  complete(handler(() => ended.push('the next')));
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(ended, [fault, 'the next']);
});
