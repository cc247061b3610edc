/** However often it is asked for in one turn, `work` is done once: after all sockets that were ready were read. */
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

/** Hands to `work` all items of one turn together, in their order. */
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
