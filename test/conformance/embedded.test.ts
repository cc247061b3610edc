import t from 'tap';
import { openEmbeddedEngine } from '../../src/gateway/admission/engines/embedded/engine.js';
import { tempFolder } from '../gateway/admission/engines/embedded/fixture.js';
import { PLANS } from './cast.js';
import { conformance } from './engine.js';

await conformance(t, 'embedded', () => Promise.resolve(openEmbeddedEngine({ folder: tempFolder(t), plans: PLANS, usageDays: 400, mapBytes: 64 * 1_048_576 })));
