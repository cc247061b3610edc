import { openStores } from '../../src/gateway/store/embedded/owner/stores.js';

/** Has files of a store open in its folder. */
openStores({ folder: process.argv[2] ?? '', mapBytes: 64 * 1_048_576 });
process.send?.('open');
setInterval(() => undefined, 1_000);
