import { redirectionOf } from './errors.js';
import type { NodeHealth } from './health.js';
import type { Nodes } from './nodes.js';
import { ANY_TIME } from './script.js';
import type { Script } from './script.js';

/** The script that proves a node can decide: keys and arguments of a run that changes nothing. */
export interface Probe {
  readonly script: Script;
  readonly args: readonly string[];
}

/** Asks a node about a name of its own; about none when it has none, or when that one is moving too. */
export async function askProbe(
  nodes: Nodes,
  name: string,
  health: NodeHealth,
  untilMs: number,
  { script, args }: Probe,
): Promise<true> {
  const key = nodes.nameOn(name);
  const ask = async (keys: readonly string[]): Promise<true> => {
    const answer = await health.sent(nodes.run({ name, asking: false }, script, keys, ANY_TIME, args), untilMs);
    health.storeClock.note(answer.readDoubleLE(0), performance.now());
    return true;
  };
  return ask(key === undefined ? [] : [key]).catch((error: unknown) => {
    if (redirectionOf(error) === undefined) throw error;
    return ask([]);
  });
}
