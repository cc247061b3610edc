const EVERY_MS = 100;
const BAR_WIDTH = 24;

export interface Progress {
  /** So much more is done. */
  add(amount: number): void;
  /** What is being done from now on. */
  say(label: string): void;
  /** Wipes the line. */
  end(): void;
}

/** A line on a terminal that tells how far long work is; nothing at all elsewhere. `total` undefined: nobody knows. */
export function showProgress(stream: NodeJS.WriteStream, label: string, total: number | undefined): Progress {
  let done = 0;
  let doing = label;
  if (!stream.isTTY) return { add: () => undefined, say: () => undefined, end: () => undefined };
  const draw = (): void => void stream.write(`\r\u001b[K${progressLine(doing, done, total)}`);
  const timer = setInterval(draw, EVERY_MS).unref();
  draw();
  return {
    add: (amount) => void (done += amount),
    say: (next) => {
      doing = next;
      draw();
    },
    end: () => {
      clearInterval(timer);
      stream.write('\r\u001b[K');
    },
  };
}

/** `Checking keys  [######------]  50 %`, or with the MB done when nobody knows how many there are. */
export function progressLine(label: string, done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${label}  ${(done / 1e6).toFixed(1)} MB`;
  const share = Math.min(done / total, 1);
  const filled = Math.floor(share * BAR_WIDTH);
  return `${label}  [${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]  ${Math.floor(share * 100)} %`;
}
