import { RecentExchanges } from '../../../src/gateway/observe/recent/memory.js';
import { recallThroughPrimary } from '../../../src/gateway/workers/worker.js';
import { makeExchange } from '../exchange.js';

// A worker that remembers one exchange, and asks its primary for those of another id.
const recent = new RecentExchanges();
recent.note(makeExchange({ id: 'mine' }).exchange, 429, 1, true);
const recall = recallThroughPrimary(recent);
for (;;) process.send!({ type: 'done', recalled: await recall({ request: 'theirs' }) });
