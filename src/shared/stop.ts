/**
 * Runs `stop` at the first SIGTERM or SIGINT, then exits: 0, or 1 when it failed. A second SIGINT
 * exits at once: whoever presses Ctrl-C twice means it.
 */
export function onStopSignal(stop: () => Promise<void>): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping && signal === 'SIGINT') process.exit(130);
    if (stopping) return;
    stopping = true;
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
