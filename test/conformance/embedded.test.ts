import t from 'tap';
import { tempFolder } from '../gateway/store/embedded/fixture.js';
import { conformance } from './engine.js';
import { openEngine } from './open.js';

await conformance(t, 'embedded', () => Promise.resolve(openEngine({ engine: 'embedded', folder: tempFolder(t) })));
