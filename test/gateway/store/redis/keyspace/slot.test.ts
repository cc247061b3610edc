import t from 'tap';
import { slotOf } from '../../../../../src/gateway/store/redis/keyspace/slot.js';
import { startRedis } from '../../../../servers/redis.js';

t.test('slots are those that Redis itself works out', async (t) => {
  const server = await startRedis({ cluster: true });
  t.teardown(() => server.stop());
  for (const name of [
    '',
    'a',
    'petgate:keys',
    'petgate:{abc}:key',
    'petgate:{ip:2001:db8::1}:state',
    '{}x',
    'x{}y',
    '{a',
    'a}',
    '{{b}}',
    'é{ü}',
    '123456789',
  ]) {
    t.equal(slotOf(name), await server.command('CLUSTER', 'KEYSLOT', name), name);
  }
});
