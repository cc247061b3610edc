import t from 'tap';
import { patiently } from '../../../src/gateway/store/retry.js';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';

t.test('a call is made again while the store is away, not for ever, and not for any other reason', async (t) => {
  let calls = 0;
  t.equal(
    await patiently(() => (++calls < 3 ? Promise.reject(new StoreUnavailable('busy')) : Promise.resolve('there'))),
    'there',
  );
  t.equal(calls, 3);
  await t.rejects(
    patiently(() => Promise.reject(new StoreUnavailable(`busy ${++calls}`))),
    { message: 'busy 8' },
  );
  await t.rejects(
    patiently(() => Promise.reject(new Error(`wrong ${++calls}`))),
    { message: 'wrong 9' },
  );
});
