import t from 'tap';
import { KEY_INDEX, keyPrefix, neighbourOf } from '../../../../../src/gateway/admission/engines/redis/names.js';
import { slotOf } from '../../../../../src/gateway/admission/engines/redis/slot.js';
import { startRedis } from '../../../../servers/redis.js';

t.test('slots are those that Redis itself works out', async (t) => {
  const server = await startRedis({ cluster: true });
  t.teardown(() => server.stop());
  for (const name of ['', 'a', 'petgate:keys', 'petgate:{abc}:key', 'petgate:{ip:2001:db8::1}:state', '{}x', 'x{}y', '{a', 'a}', '{{b}}', 'é{ü}', '123456789']) {
    t.equal(slotOf(name), await server.command('CLUSTER', 'KEYSLOT', name), name);
  }
});

t.test('a probe for the node of any of our names goes to that node', (t) => {
  for (const name of [KEY_INDEX, `${keyPrefix('abc')}key`, keyPrefix('abc'), 'petgate:{ip:2001:db8::1}:state']) t.equal(slotOf(neighbourOf(name)), slotOf(name), name);
  t.end();
});
