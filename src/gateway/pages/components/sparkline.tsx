import { pathOf } from './plot.js';

const WIDTH = 160;
const HEIGHT = 28;

/** The course of a figure as a small line, from 0 to the highest. Null is a gap. */
export function Sparkline({ figures }: { readonly figures: readonly (number | null)[] }) {
  const drawn = figures.map((figure) => (figure === Infinity ? null : figure));
  const highest = Math.max(...drawn.map((figure) => figure ?? 0)) || 1;
  const step = WIDTH / Math.max(1, drawn.length - 1);
  const points = drawn.map((figure, n) =>
    figure === null ? null : ([n * step, 2 + (HEIGHT - 4) * (1 - figure / highest)] as const),
  );
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path class="line c0" d={pathOf(points)} />
    </svg>
  );
}
