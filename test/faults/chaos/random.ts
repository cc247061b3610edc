const [asked = '', many = '', part = ''] = (process.env['PETGATE_CHAOS'] ?? '').split(',');

/**
 * `PETGATE_CHAOS=<seed>,<events>` repeats a run, or makes it longer; with a third part only what has that in its name
 * happens.
 */
export const seed = asked === '' ? Math.floor(Math.random() * 1_000_000) : Number(asked);
export const events = many === '' ? 10 : Number(many);
export const only = part;

/** How to see the same run again. */
export const repeat = `PETGATE_CHAOS=${seed},${events}${only === '' ? '' : `,${only}`}`;

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
