import t from 'tap';
import { openStores } from '../../../../src/gateway/store/embedded/owner/stores.js';
import { Metadata } from '../../../../src/gateway/store/outage/metadata.js';
import { tempFolder } from '../embedded/fixture.js';

t.test('values and the id are those of the store, whoever opens it', async (t) => {
  const stores = openStores({ folder: tempFolder(t), mapBytes: 2 ** 26 });
  t.teardown(() => stores.close());
  const [one, other] = [new Metadata(stores), new Metadata(stores)];
  t.equal(one.read('log'), undefined);
  await one.write('log', '1000');
  t.equal(other.read('log'), '1000');
  t.match(one.id(), /^[\w-]{16}$/);
  t.equal(other.id(), one.id());
  const before = one.id();
  t.not(one.begin(), before, 'who starts is another');
  t.strictSame(other.former(), [before]);
});

t.test('more gateways are believed at once, fewer only after half a minute', async (t) => {
  const now = performance.now.bind(performance);
  t.teardown(() => (performance.now = now));
  const stores = openStores({ folder: tempFolder(t), mapBytes: 2 ** 26 });
  t.teardown(() => stores.close());
  const metadata = new Metadata(stores);
  t.equal(metadata.gateways(), 1);
  await metadata.sawGateways(3);
  t.equal(metadata.gateways(), 3);
  await metadata.sawGateways(1);
  t.equal(metadata.gateways(), 3);
  t.equal(new Metadata(stores).gateways(), 3, 'nor after a restart');
  performance.now = () => now() + 30_001;
  await metadata.sawGateways(1);
  t.equal(metadata.gateways(), 1);
});
