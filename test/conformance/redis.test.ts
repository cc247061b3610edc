import t from 'tap';
import { startRedis } from '../servers/redis.js';
import { conformance } from './engine.js';
import { openEngine } from './open.js';

const server = await startRedis();
t.teardown(() => server.stop());
await conformance(t, 'redis', () => Promise.resolve(openEngine({ engine: 'redis', url: server.url })));
