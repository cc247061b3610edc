import t from 'tap';
import { redisFor } from '../servers/redis.js';
import { conformance } from './engine.js';
import { openEngine } from './open.js';

const server = await redisFor(t);
await conformance(t, 'redis', () => Promise.resolve(openEngine({ engine: 'redis', url: server.url })));
