/**
 * Does `work` at once and again and again, with a pause of `everyMs` after each time; an error ends no more
 * than that time. Gives what stops it, and waits for the work under way.
 */
export function repeat(
  everyMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const run = async (): Promise<void> => {
    await work().catch(onError);
    if (!stopped) timer = setTimeout(start, everyMs).unref();
  };
  const start = (): void => {
    running = run();
  };
  start();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return running;
  };
}
