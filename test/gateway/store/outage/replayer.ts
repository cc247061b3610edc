/** A process with an engine of its own on a folder. See replayers.ts. */
import { openFailoverEngine } from '../../../../src/gateway/store/outage/engine.js';
import { openRedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { PLANS } from '../../../conformance/cast.js';

const [, , folder = '', url = ''] = process.argv;
const redis = openRedisEngine({ url, deadlineMs: 500, plans: PLANS, usageDays: 400 });
const engine = openFailoverEngine({
  redis,
  folder,
  mapBytes: 2 ** 26,
  plans: PLANS,
  gateways: 1,
  deadlineMs: 500,
});
await engine.check();
process.send?.('ready');
