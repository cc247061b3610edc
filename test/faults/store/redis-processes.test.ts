import t from 'tap';
import { redisFor } from '../../servers/redis.js';
import { exactWithManyProcesses } from './processes.js';

const server = await redisFor(t);
await t.test('three processes on one Redis', (t) => exactWithManyProcesses(t, { engine: 'redis', url: server.url }));
