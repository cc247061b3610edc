import { openEmbeddedStore } from '../../../src/pets/store/embedded.js';

/** Opens and closes the store in a folder again and again: `node opener.js FOLDER TIMES`. */
const [folder = '', times = '1'] = process.argv.slice(2);
for (let n = 0; n < Number(times); n += 1) await openEmbeddedStore(folder).close();
