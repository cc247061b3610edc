import t from 'tap';
import { provesNothingIsLost } from './kills.js';
import { openStage } from './stage.js';

t.setTimeout(170_000);
t.test('embedded, to files', async (t) => provesNothingIsLost(t, await openStage(t, undefined, 'files')));
