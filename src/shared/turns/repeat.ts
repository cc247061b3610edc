/**
 * Runs `work` again `everyMs` after the end of each run, even if it failed. Returns a function that stops it and waits
 * for the current run.
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
