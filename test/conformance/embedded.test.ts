import t from 'tap';
import { openEmbeddedEngine } from '../../src/gateway/store/embedded/engine.js';
import { tempFolder } from '../gateway/store/embedded/fixture.js';
import { PLANS } from './cast.js';
import { conformance } from './engine.js';

await conformance(t, 'embedded', () =>
  Promise.resolve(
    openEmbeddedEngine({
      folder: tempFolder(t),
      plans: PLANS,
      usageDays: 400,
      events: true,
      mapBytes: 64 * 1_048_576,
    }),
  ),
);
