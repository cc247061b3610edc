/** A moment, by UTC to the second. */
export function Moment({ atMs }: { readonly atMs: number }) {
  const iso = new Date(atMs).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}</time>;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** `2 hours 5 minutes`: the two largest units of a length of time, rounded up. */
export function lengthOf(ms: number): string {
  let leftMs = Math.max(0, Math.ceil(ms / 1_000) * 1_000);
  const parts: string[] = [];
  for (const [unit, sizeMs] of UNITS) {
    const count = Math.floor(leftMs / sizeMs);
    leftMs -= count * sizeMs;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
  }
  return parts.length === 0 ? 'now' : parts.join(' ');
}
