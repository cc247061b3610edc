/** Returns a function that runs `work` one at a time. All calls during a run share the next one. */
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
