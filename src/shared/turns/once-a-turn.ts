/**
 * Returns a function that runs `work` once per turn of the event loop, however often it is called: after all sockets
 * that are ready have been read.
 */
export function onceATurn(work: () => void): () => void {
  let isScheduled = false;
  const run = (): void => {
    isScheduled = false;
    work();
  };
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(run);
  };
}

/** Returns a function that collects the items of one turn, then passes them to `work` together, in order. */
export function collectTurn<Item>(work: (items: readonly Item[]) => void): (item: Item) => void {
  let items: Item[] = [];
  const run = (): void => {
    const turn = items;
    items = [];
    work(turn);
  };
  return (item) => {
    if (items.length === 0) setImmediate(run);
    items.push(item);
  };
}
