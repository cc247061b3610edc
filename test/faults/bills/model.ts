/** What a store has of a key and day. */
interface Count {
  n: number;
  /** It comes on top of what the archive has, or an import is to bring; else it is whole. */
  isOnTop: boolean;
}

/** A step of a key's history; one that corrects nothing was written back by a gateway. */
export interface Correction {
  readonly id: string;
  readonly day: string;
  readonly requests: number;
}

/** What a store holds, as billing sees it (docs/decisions/0036); plain data, so that a copy of it is a snapshot. */
export interface Store {
  /** By `<key> <day>`. */
  readonly counts: Record<string, Count>;
  /** Of the keys that it knows, oldest first. */
  readonly keys: Record<string, Correction[]>;
  /** Whether the archive has a key's day, by `<key> <day>`. */
  readonly marks: Record<string, boolean>;
  /** What the archive had of a day when it was moved, by day; 0 for none. */
  readonly noted: Record<string, number>;
  /** What it may have noted of days that another store moved, since it worked with the archive. */
  readonly learned: Record<string, number>;
  /** What it took of gateways that counted by themselves, by `<key> <day> <start of the gateway>`. */
  readonly taken: Record<string, number>;
}

/** What a gateway's data folder has: its counts by `<key> <day> <start>`, and those that Redis said it took. */
export interface Folder {
  readonly counted: Record<string, number>;
  readonly acknowledged: Record<string, number>;
}

/** Whole days of PostgreSQL, by `<key> <day>`. */
export type Archive = Record<string, number>;
export type Bill = Readonly<Record<string, number>>;

export const copyOf = <Data>(data: Data): Data => structuredClone(data);
export const emptyStore = (): Store => ({ counts: {}, keys: {}, marks: {}, noted: {}, learned: {}, taken: {} });
export const emptyFolder = (): Folder => ({ counted: {}, acknowledged: {} });
export const nameOf = (key: string, day: string): string => `${key} ${day}`;
export const dayIn = (name: string): string => name.split(' ')[1]!;
const keyIn = (name: string): string => name.split(' ')[0]!;
export const isKnown = ({ keys }: Store, name: string): boolean => keys[keyIn(name)] !== undefined;

/** What is counted of a day that is in the archive, or of a key that is not known yet, comes on top. */
export function add(store: Store, name: string, more: number): void {
  if (more === 0) return;
  const isOnTop = store.marks[name] === true || !isKnown(store, name);
  (store.counts[name] ??= { n: 0, isOnTop }).n += more;
}

/** A gateway brings what it counted by itself: each count as a total, so that it counts once. */
export function replay(store: Store, { counted, acknowledged }: Folder): void {
  for (const [name, total] of Object.entries(counted)) {
    if (acknowledged[name] === total) continue;
    const [key = '', day = ''] = name.split(' ');
    add(store, nameOf(key, day), Math.max(0, total - (store.taken[name] ?? acknowledged[name] ?? 0)));
    acknowledged[name] = store.taken[name] = total;
  }
}

function billed({ counts }: Store, archive: Archive, name: string): number {
  const { n, isOnTop } = counts[name] ?? { n: 0, isOnTop: false };
  const archived = archive[name] ?? 0;
  return isOnTop ? archived + n : Math.max(archived, n);
}

/** Requests by `<key> <day>`, corrected; what is 0 is left out. @param archive empty where the store has none */
export function billOf(store: Store, archive: Archive): Bill {
  const bill: Record<string, number> = {};
  for (const name of [...Object.keys(archive), ...Object.keys(store.counts)]) bill[name] = billed(store, archive, name);
  for (const [key, corrections] of Object.entries(store.keys))
    for (const { day, requests } of corrections) bill[nameOf(key, day)] = (bill[nameOf(key, day)] ?? 0) + requests;
  return Object.fromEntries(Object.entries(bill).filter(([, n]) => n !== 0));
}

/** What is spent of a key's day. */
export function spentOf({ counts }: Store, key: string, today: string): number {
  return counts[nameOf(key, today)]?.n ?? 0;
}

function archivedOn(archive: Archive, day: string): number {
  return Object.entries(archive).reduce((sum, [name, n]) => sum + (dayIn(name) === day ? n : 0), 0);
}

/** Days of which the archive has less than it had: no bill may do without it. */
export function lackingDays({ noted }: Pick<Store, 'noted'>, archive: Archive): readonly string[] {
  return Object.keys(noted).filter((day) => archivedOn(archive, day) < noted[day]!);
}

/** The same of days that it may only know from looking at the archive: a report may be refused for them. */
export function maybeLackingDays({ noted, learned }: Store, archive: Archive): readonly string[] {
  return [...lackingDays({ noted }, archive), ...lackingDays({ noted: learned }, archive)];
}

/** Before it moves days, or brings them back, a store notes what the archive has. */
export function learn(store: Store, archive: Archive): void {
  for (const day of new Set(Object.keys(archive).map(dayIn)))
    store.learned[day] = Math.max(store.learned[day] ?? 0, archivedOn(archive, day));
}

/** An operator takes the archive as it is. */
export function acceptArchive(store: Store, archive: Archive): void {
  for (const notes of [store.noted, store.learned])
    for (const day of lackingDays({ noted: notes }, archive)) notes[day] = archivedOn(archive, day);
}

/** A day moves: whatever is whole here goes, and the archive has it at least. */
export function move(store: Store, archive: Archive, day: string): void {
  for (const [name, { n, isOnTop }] of Object.entries(store.counts))
    if (dayIn(name) === day && isKnown(store, name) && !isOnTop) archive[name] = Math.max(archive[name] ?? 0, n);
  for (const name of Object.keys(archive)) {
    if (dayIn(name) !== day || !isKnown(store, name)) continue;
    store.marks[name] = true;
    if (store.counts[name]?.isOnTop === false) Reflect.deleteProperty(store.counts, name);
  }
  store.noted[day] = Math.max(store.noted[day] ?? 0, archivedOn(archive, day));
}

/** A day comes back, and is whole here. */
export function restoreDay(store: Store, archive: Archive, day: string): void {
  for (const name of Object.keys(archive).filter((each) => dayIn(each) === day)) {
    const count = (store.counts[name] ??= { n: 0, isOnTop: store.marks[name] === true });
    count.n = billed(store, archive, name);
    [count.isOnTop, store.marks[name]] = [false, false];
  }
}

/** The archive forgets a day, and the store that it had it. */
export function dropDay(store: Store, archive: Archive, day: string): void {
  for (const name of Object.keys(archive)) if (dayIn(name) === day) Reflect.deleteProperty(archive, name);
  store.noted[day] = store.learned[day] = 0;
}

/** Of two histories one must be the beginning of the other. */
function isOther(here: readonly Correction[], given: readonly Correction[]): boolean {
  return given.some(({ id }, n) => n < here.length && here[n]!.id !== id);
}

/**
 * Brings in an export. Of two counts the larger one holds; to what was counted before its key was known the file's is
 * added. Gives the keys that are others here, which stay.
 */
export function importInto(store: Store, file: Store, archive: Archive): readonly string[] {
  const others = Object.keys(file.keys).filter((key) => isOther(store.keys[key] ?? [], file.keys[key]!));
  for (const [day, n] of Object.entries(file.noted)) store.noted[day] = Math.max(store.noted[day] ?? 0, n);
  for (const [day, n] of Object.entries(file.learned)) store.learned[day] = Math.max(store.learned[day] ?? 0, n);
  for (const [key, corrections] of Object.entries(file.keys))
    if (!others.includes(key) && (store.keys[key]?.length ?? -1) < corrections.length)
      store.keys[key] = [...corrections];
  const mine = (name: string): boolean => isKnown(file, name) && !others.includes(keyIn(name));
  for (const [name, isMarked] of Object.entries(file.marks).filter(([each]) => mine(each)))
    store.marks[name] ||= isMarked && store.counts[name]?.isOnTop !== false;
  for (const [name, given] of Object.entries(file.counts).filter(([each]) => mine(each)))
    raise(store, archive, name, given);
  return others;
}

function raise(store: Store, archive: Archive, name: string, given: Count): void {
  const here = store.counts[name];
  const archived = archive[name] ?? 0;
  if (store.marks[name] === true || (given.isOnTop && here?.isOnTop !== false)) {
    const more = given.isOnTop ? given.n : given.n - archived;
    if (more > 0) store.counts[name] = { n: Math.max(here?.n ?? 0, more), isOnTop: true };
  } else {
    const whole = given.isOnTop ? archived + given.n : given.n;
    const n = here?.isOnTop === true ? here.n + whole : Math.max(here?.n ?? 0, whole);
    store.counts[name] = { n, isOnTop: false };
  }
}
