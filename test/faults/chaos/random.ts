/** `PETGATE_CHAOS=<seed>,<events>` repeats a run, or makes it longer. */
export const [seed = Math.floor(Math.random() * 1_000_000), events = 10] = (process.env['PETGATE_CHAOS'] ?? '')
  .split(',')
  .filter(Boolean)
  .map(Number);

/** How to see the same run again. */
export const repeat = `PETGATE_CHAOS=${seed},${events}`;

/** Gives numbers from 0 to 1 that a seed decides (mulberry32). */
export type Random = () => number;

export function randomOf(state: number): Random {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let mixed = Math.imul(a ^ (a >>> 15), 1 | a);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of them. */
export function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)]!;
}
