import { acceptLacking } from '../../../src/gateway/usage/archive/lacking.js';
import { restoreDays } from '../../../src/gateway/usage/archive/restore.js';
import { pick } from '../chaos/random.js';
import { acceptArchive, dropDay, lackingDays, learn, maybeLackingDays, move, restoreDay } from './model.js';
import { onRedis, serving, type Step, type Steps } from './steps.js';

/** The name of the error that the archive refuses with; empty where it doesn't. */
async function refusalOf(work: Promise<void>): Promise<string> {
  try {
    await work;
    return '';
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('Archive')) return `, refused: ${error.name}: ${error.message}`;
    throw error;
  }
}

const canAsk: Step['can'] = (place) => serving(place) && onRedis(place);

export const ARCHIVE: Steps = {
  'days are archived': {
    weight: 4,
    can: canAsk,
    run: async ({ gateways, store }, world, random) => {
      learn(store, world.archive);
      const days: string[] = [];
      const moved = (day: string): void => {
        move(store, world.archive, day);
        days.push(day);
      };
      const refused = await refusalOf(pick(gateways, random).archiveDays(moved));
      return `${days.join(', ')}${refused}`;
    },
  },
  'days come back from the archive': {
    weight: 1,
    can: canAsk,
    run: async ({ gateways, store: model }, world, random) => {
      learn(model, world.archive);
      const days: string[] = [];
      let all: readonly string[] = [];
      const restored = pick(gateways, random).withArchive(async (store, archive) => {
        all = [...(await archive.days()).keys()];
        await restoreDays(store, archive, all, (day) => {
          restoreDay(model, world.archive, day);
          dropDay(model, world.archive, day);
          days.push(day);
        });
      });
      const refused = await refusalOf(restored);
      // That day's rows are back, and the archive has them still.
      if (/it stays in the archive/.test(refused)) restoreDay(model, world.archive, all[days.length]!);
      return `${days.join(', ')}${refused}`;
    },
  },
  'an operator accepts the archive': {
    weight: 2,
    can: (place, world) => canAsk(place, world) && maybeLackingDays(place.store, world.archive).length > 0,
    run: async ({ gateways, store: model }, world, random) => {
      let text = '';
      await pick(gateways, random).withArchive(async (store, archive) => {
        text = JSON.stringify(await acceptLacking(store, archive));
      });
      acceptArchive(model, world.archive);
      return text;
    },
  },
  'PostgreSQL is dumped': {
    weight: 2,
    can: (_place, { archiveSnapshots }) => archiveSnapshots.length < 5,
    run: async (_place, world) => {
      await world.snapshotArchive();
      return `${Object.keys(world.archive).length} rows`;
    },
  },
  'PostgreSQL is restored from a dump': {
    weight: 1,
    can: (_place, { archiveSnapshots }) => archiveSnapshots.length > 0,
    run: async (_place, world, random) => {
      const n = Math.floor(random() * world.archiveSnapshots.length);
      await world.restoreArchive(world.archiveSnapshots[n]!);
      return `dump ${n}, ${Object.keys(world.archive).length} rows`;
    },
  },
  'PostgreSQL has its last dump again': {
    weight: 1,
    can: (place, world) => lackingDays(place.store, world.archive).length > 0,
    run: async (_place, world) => {
      await world.restoreArchive(world.archiveSnapshots.at(-1)!);
      return `${Object.keys(world.archive).length} rows`;
    },
  },
};
