import t from 'tap';
import { tempFolder } from '../../gateway/store/embedded/fixture.js';
import { exactWithManyProcesses } from './processes.js';

await t.test('three processes on one folder', (t) =>
  exactWithManyProcesses(t, { engine: 'embedded', folder: tempFolder(t) }),
);
