import t from 'tap';
import { provesNothingIsLost } from './archive.js';
import { openStage } from '../../gateway/archive/stage.js';

t.setTimeout(170_000);
t.test('embedded, to files', async (t) => provesNothingIsLost(t, await openStage(t, undefined, 'files')));
