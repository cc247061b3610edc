import t from 'tap';
import { crossedEvent } from '../../../../../src/gateway/store/records/facts.js';
import type { GatewayEvent } from '../../../../../src/gateway/store/outbox/event.js';
import { openStores, type Stores } from '../../../../../src/gateway/store/embedded/owner/stores.js';
import { isAnyPending, nextPending } from '../../../../../src/gateway/store/embedded/journal/pending.js';
import { transact } from '../../../../../src/gateway/store/embedded/owner/transaction.js';
import { copyOf, NOON_MS, tempFolder } from '../fixture.js';

/** More than what any one transaction may enter. */
const TRANSACTIONS = 40;
const EVENTS_EACH = 75;
/** What one transaction may hold up the event loop for. */
const MAX_ENTERED = 32;

function eventOf(number: number): GatewayEvent {
  const crossing = { window: 'day', startDay: 1, threshold: 50, limit: 2, used: 1 } as const;
  return crossedEvent(`key${number}`, `key${number}`, 'free', crossing, NOON_MS);
}

function take(stores: Stores): readonly string[] {
  return stores.durable.transactionSync(() =>
    (nextPending(stores.durable) ?? []).map((event) => (typeof event === 'string' ? event : event.id)),
  );
}

t.test('a burst of events is taken over from the journal, once, and given out a few at a time', async (t) => {
  const folder = tempFolder(t);
  const stores = openStores({ folder, mapBytes: 64 * 1_048_576 });
  t.teardown(() => stores.close());
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
  burst();
  await stores.fold.takeOver();
  burst();
  await stores.fold.run();
  burst();
  await stores.fold.takeOver();
  // The journal still has those of the last burst.
  const copy = openStores({ folder: copyOf(t, folder), mapBytes: 64 * 1_048_576 });
  t.teardown(() => copy.close());
  await copy.fold.takeOver();
  for (const each of [stores, copy]) {
    const given: string[] = [];
    for (let some = take(each); some.length > 0; some = take(each)) {
      if (some.length > MAX_ENTERED) t.fail(`${some.length} at once`);
      given.push(...some);
    }
    t.same(given, made, 'in their order, none twice');
    t.notOk(isAnyPending(each.durable));
  }
});
