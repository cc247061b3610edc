import t from 'tap';
import { startUpstream } from '../../servers/upstream.js';
import { EVENTS, OWN_CLOCK } from './events.js';
import { Fleet } from './fleet.js';
import { repeat } from './random.js';
import { checkRehearsal } from './rehearsal.js';
import { checkLedger, survive, TIMEOUT_MS } from './survive.js';

t.setTimeout(TIMEOUT_MS);

t.test(`the embedded store: whatever happens, no count is lost and none is made up (${repeat})`, async (t) => {
  const fleet = new Fleet(t, { settings: { store: { usage: '40d' } } }, await startUpstream(t));
  await survive(t, fleet, 1, { ...EVENTS, ...OWN_CLOCK });
  // A worker waits 900 ms for the owner, which a machine that is busy enough exceeds now and then.
  const [unavailable, answered] = ['store_unavailable', '200'].map((kind) => fleet.tally.get(kind) ?? 0) as [
    number,
    number,
  ];
  t.ok(unavailable <= answered / 100, 'the store was there', { unavailable, answered });
  await checkLedger(t, fleet);
  checkRehearsal(t, fleet);
});
