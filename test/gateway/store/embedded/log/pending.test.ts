import t from 'tap';
import { crossedEvent } from '../../../../../src/gateway/store/outbox/facts.js';
import type { GatewayEvent } from '../../../../../src/gateway/store/outbox/event.js';
import { openStores } from '../../../../../src/gateway/store/embedded/files/stores.js';
import { Checkpoint } from '../../../../../src/gateway/store/embedded/log/checkpoint.js';
import { isAnyPending, nextPending } from '../../../../../src/gateway/store/embedded/log/pending.js';
import { transact } from '../../../../../src/gateway/store/embedded/log/transaction.js';
import { NOON_MS, tempFolder } from '../fixture.js';

/** More than what any one transaction may forget, or enter. */
const TRANSACTIONS = 40;
const EVENTS_EACH = 75;
/** What one transaction may hold up the event loop for. */
const MAX_ENTERED = 32;

function eventOf(number: number): GatewayEvent {
  const crossing = { window: 'day', startDay: 1, threshold: 50, limit: 2, used: 1 } as const;
  return crossedEvent(`key${number}`, `key${number}`, 'free', crossing, NOON_MS);
}

t.test('a burst of events is taken over with the log, once, and given out a few at a time', async (t) => {
  const stores = openStores({ folder: tempFolder(t), mapBytes: 64 * 1_048_576 });
  t.teardown(() => Promise.all([stores.recent.close(), stores.durable.close()]));
  const checkpoint = new Checkpoint(stores);
  const made: string[] = [];
  const burst = (): void => {
    for (let n = 0; n < TRANSACTIONS; n += 1)
      transact(stores, (transaction) => {
        transaction.count(transaction.key('key'), 'free', 'listPets', NOON_MS, 'requests');
        for (let event = 0; event < EVENTS_EACH; event += 1) {
          made.push(eventOf(made.length).id);
          transaction.emit(eventOf(made.length - 1));
        }
      });
  };
  const given: string[] = [];
  const take = (): number =>
    stores.durable.transactionSync(() => {
      const ids = (nextPending(stores.durable) ?? []).map((event) => (typeof event === 'string' ? event : event.id));
      given.push(...ids);
      return ids.length;
    });
  burst();
  await checkpoint.takeOver();
  t.notOk(isAnyPending(stores.recent), 'nothing of it is read again');
  burst();
  await checkpoint.merge();
  t.notOk(isAnyPending(stores.recent));
  for (let count = take(); count > 0; count = take()) if (count > MAX_ENTERED) t.fail(`${count} at once`);
  t.same(given, made, 'in their order, none twice');
  t.notOk(isAnyPending(stores.durable));
});
