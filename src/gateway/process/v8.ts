import { executionAsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';

/** That there is a reference to what is in it is what counts. */
const kept: object[] = [];

/** What makes V8 run a gateway faster, in figures of `npm run bench`; once, before anything else. */
export function tuneV8(): void {
  // V8 errs with this in the first seconds of some gateways, and then keeps every request until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Young collections are many (20 to 30 a second) and small: waking a second thread for them costs 4 % of a request.
  setFlagsFromString('--no-parallel-scavenge');
  keepNextTickFast();
}

/**
 * Keeps one of Node's tick objects, and with it their hidden classes. A full collection while none is alive drops
 * these, and from then on V8 makes each tick by a slow path, for ever: 8 to 13 % of a request. It happens during the
 * load of a large contract, and in any quiet second.
 */
function keepNextTickFast(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
