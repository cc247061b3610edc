import { pick, randomOf, type Random } from '../chaos/random.js';
import type { PostgresServer } from '../../servers/postgres.js';
import { ARCHIVE } from './archive.js';
import { checkBill } from './bill.js';
import { COUNTS } from './counts.js';
import { FOLDERS } from './folders.js';
import type { Place } from './place.js';
import type { ReplicatedRedis } from './replicated-redis.js';
import { REDIS } from './redis.js';
import { serving, type Steps } from './steps.js';
import { TRANSFER } from './transfer.js';
import { World } from './world.js';

const KEYS_FIRST = 3;
/** After so many steps another place is looked at too. */
const OTHERS = 0.3;
const STEPS: Steps = { ...COUNTS, ...ARCHIVE, ...TRANSFER, ...REDIS, ...FOLDERS };

/** What came of a sequence. */
interface Outcome {
  readonly told: readonly string[];
  /** Reports that were the model's bill, and those that were refused. */
  readonly billed: number;
  readonly refused: number;
  readonly problem: Error | null;
}

interface Servers {
  readonly postgres: PostgresServer;
  readonly redis: readonly ReplicatedRedis[];
}

/** Lets happen what the seed says, and after each step holds the reports of each place against the model. */
export async function runSequence(
  { postgres, redis }: Servers,
  { seed, steps, only }: { readonly seed: number; readonly steps: number; readonly only: string },
  isOver: () => boolean,
): Promise<Outcome> {
  const random = randomOf(seed);
  const world = await World.create(postgres, `bills_${seed}_${process.pid}`, redis);
  const told: string[] = [];
  let [billed, refused] = [0, 0];
  try {
    for (const place of world.places) await place.settle();
    while (told.length < steps && !isOver()) {
      const place = chosen(world, random);
      const name = nextStep(place, world, random, only);
      const step = `${told.length + 1}. ${place.name}: ${name}`;
      told.push(step);
      told[told.length - 1] = `${step}: ${await STEPS[name]!.run(place, world, random)}`;
      await place.settle();
      // What happens to the archive happens to all.
      const others = random() < OTHERS ? [pick(world.places, random)] : [];
      for (const each of new Set([place, ...others])) {
        const refusal = await checkBill(world, each, pick(each.gateways, random));
        if (refusal === null) billed += 1;
        else refused += 1;
      }
    }
    return { told, billed, refused, problem: null };
  } catch (error) {
    return { told, billed, refused, problem: error instanceof Error ? error : new Error(String(error)) };
  } finally {
    await world.close();
  }
}

/** Most of what can go wrong takes several steps at the same place. */
function chosen({ places }: World, random: Random): Place {
  return random() < 0.6 ? places[0]! : pick(places, random);
}

/** One that can happen now; at first there must be something to count. */
function nextStep(place: Place, world: World, random: Random, only: string): string {
  if (world.keys.length < KEYS_FIRST && serving(place)) return 'a key is made';
  const able = Object.entries(STEPS).flatMap(([name, { weight, can }]) =>
    only.split('|').some((part) => name.includes(part)) && can(place, world)
      ? Array.from({ length: weight }, () => name)
      : [],
  );
  return pick(able, random);
}
