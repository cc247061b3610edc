import { createHook } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { tuneV8 } from '../../../src/gateway/process/v8.js';

t.test('a tick object outlives every collection, so that nextTick stays fast', async (t) => {
  const ticks: WeakRef<object>[] = [];
  const hook = createHook({
    init(_id, type, _trigger, tick: object) {
      if (type === 'TickObject') ticks.push(new WeakRef(tick));
    },
  });
  hook.enable();
  process.nextTick(() => undefined);
  tuneV8();
  hook.disable();
  t.equal(ticks.length, 2);
  // What a WeakRef gave lives until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  t.strictSame(
    ticks.map((tick) => tick.deref() !== undefined),
    [false, true],
    'the one that was kept, and no other',
  );
});
