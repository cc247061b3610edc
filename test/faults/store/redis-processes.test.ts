import t from 'tap';
import { startRedis } from '../../servers/redis.js';
import { exactWithManyProcesses } from './processes.js';

const server = await startRedis();
t.teardown(() => server.stop());
await t.test('three processes on one Redis', (t) => exactWithManyProcesses(t, { engine: 'redis', url: server.url }));
