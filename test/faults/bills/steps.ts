import type { Random } from '../chaos/random.js';
import type { Place } from './place.js';
import type { World } from './world.js';

/** Something that happens at a place. */
export interface Step {
  /** How often, beside the others. */
  readonly weight: number;
  /** Whether it can happen now. */
  readonly can: (place: Place, world: World) => boolean;
  /** Does it, to the world and to its model. Gives what there is to say of it. */
  readonly run: (place: Place, world: World, random: Random) => Promise<string>;
}
export type Steps = Readonly<Record<string, Step>>;

/** A step that the gateways take part in: their store must be there, and be trusted. */
export const serving = (place: Place): boolean => !place.isDown && !place.isDistrusted;
export const onRedis = (place: Place): boolean => place.redis !== null;
