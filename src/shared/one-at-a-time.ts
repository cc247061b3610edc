/** Runs `work` one at a time: all who ask while it runs share the next run, which begins after they asked. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  const run = (): Promise<void> => {
    if (running === undefined) return (running = work().finally(() => (running = undefined)));
    const again = (): Promise<void> => {
      waiting = undefined;
      return run();
    };
    return (waiting ??= running.then(again, again));
  };
  return run;
}
