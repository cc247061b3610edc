/** A progress line on a terminal; silent elsewhere. */
export interface Progress {
  /** @param fraction 0 to 1; null if the total is unknown @param note the text next to the bar */
  show(fraction: number | null, note: string): void;
  /** Clears the line. */
  end(): void;
}

const WIDTH = 24;
const EVERY_MS = 100;

export function progressOn(stream: NodeJS.WriteStream): Progress {
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    show: (fraction, note) => {
      if (!stream.isTTY || performance.now() - shownMs < EVERY_MS) return;
      shownMs = performance.now();
      if (fraction === null) {
        stream.write(`\r\u001b[K${note}`);
        return;
      }
      const full = Math.round(fraction * WIDTH);
      stream.write(
        `\r\u001b[K[${'#'.repeat(full)}${'.'.repeat(WIDTH - full)}] ${Math.floor(fraction * 100)} %  ${note}`,
      );
    },
    end: () => {
      if (stream.isTTY) stream.write('\r\u001b[K');
    },
  };
}
