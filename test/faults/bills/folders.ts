import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { randomBytes } from 'node:crypto';
import { pick } from '../chaos/random.js';
import { copyOf } from './model.js';
import type { Steps } from './steps.js';

const MOST_COPIES = 3;

/** Data folders: an embedded store is in its own; beside a Redis each has what its gateway counted alone. */
export const FOLDERS: Steps = {
  'a gateway starts again': {
    weight: 1,
    can: () => true,
    run: async ({ gateways }, _world, random) => {
      const gateway = pick(gateways, random);
      await gateway.restart();
      return gateway.name;
    },
  },
  'a data folder is copied': {
    weight: 1,
    can: (_place, { folders }) => folders.length < MOST_COPIES,
    run: async ({ gateways, store, redis }, { folders }, random) => {
      const gateway = pick(gateways, random);
      const path = join(tmpdir(), `petgate-bills-copy-${randomBytes(6).toString('hex')}`);
      await gateway.restart((dataFolder) => cpSync(dataFolder, path, { recursive: true }));
      folders.push({ gateway, path, folder: copyOf(gateway.folder), store: redis === null ? copyOf(store) : null });
      return gateway.name;
    },
  },
  'a data folder is brought back': {
    weight: 1,
    can: ({ gateways }, { folders }) => folders.some(({ gateway }) => gateways.includes(gateway)),
    run: async (place, { folders }, random) => {
      const { gateway, path, folder, store } = pick(
        folders.filter((copy) => place.gateways.includes(copy.gateway)),
        random,
      );
      await gateway.restart((dataFolder) => {
        rmSync(dataFolder, { recursive: true });
        cpSync(path, dataFolder, { recursive: true });
      });
      gateway.folder = copyOf(folder);
      if (store !== null) place.store = copyOf(store);
      return gateway.name;
    },
  },
};
