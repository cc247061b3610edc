import t from 'tap';
import { temporaryFolder } from '../../servers/program.js';
import { survivesKills } from './survives-kills.js';

t.test('kill -9 on the embedded engine loses no event', (t) => survivesKills(t, { dataFolder: temporaryFolder(t) }));
