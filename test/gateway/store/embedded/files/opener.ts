import { openStores } from '../../../../../src/gateway/store/embedded/files/stores.js';

/** Opens and closes the files in a folder again and again: `node opener.js FOLDER TIMES`. */
const [folder = '', times = '1'] = process.argv.slice(2);
for (let n = 0; n < Number(times); n += 1) await openStores({ folder, mapBytes: 64 * 1_048_576 }).close();
