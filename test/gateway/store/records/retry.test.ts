import t from 'tap';
import { withRetry } from '../../../../src/gateway/store/records/retry.js';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';

t.test('a call is made again while the store is unavailable, not for ever, and not for any other reason', async (t) => {
  let calls = 0;
  t.equal(
    await withRetry(() => (++calls < 3 ? Promise.reject(new StoreUnavailable('busy')) : Promise.resolve('there'))),
    'there',
  );
  t.equal(calls, 3);
  await t.rejects(
    withRetry(() => Promise.reject(new StoreUnavailable(`busy ${++calls}`))),
    { message: 'busy 8' },
  );
  await t.rejects(
    withRetry(() => Promise.reject(new Error(`wrong ${++calls}`))),
    { message: 'wrong 9' },
  );
});
