import { randomBytes } from 'node:crypto';
import { FORMAT, isKnownFormat } from '../../format.js';
import type { KnownId } from '../../known-id.js';
import { IMPORT, STORE, storeMark } from '../names.js';
import { NotOurs, redirectionOf, wordOf } from './errors.js';
import type { Nodes } from './nodes.js';
import { ANY_TIME, CLOCK_BYTES, loadScript } from './script.js';
import { slotOf } from './slot.js';

const MARKS = 64;
const SLOTS = 16_384;
/**
 * The first mark, and names in slots that are evenly spread, so that whoever has 512 in a row has one. They move with
 * their slots. One that was evicted is known by the others of its node.
 */
const ALL_MARKS = [STORE, ...spreadMarks()];

const MARK = loadScript('gateways/mark-store');

/** What the first mark says of the whole store. */
interface Home {
  readonly id: string;
  /** Other ids that an operator let it be taken for. */
  readonly also: readonly string[];
  /** Whether every mark was written. */
  readonly isMarked: boolean;
  readonly format: string | null;
}

/**
 * Whose data a node has: a random id that is made once, stands in Redis on each master, and is remembered here.
 * A Redis that comes back empty, or another one, answers like one that never knew a key; only this tells.
 */
export class Identity {
  readonly #nodes: Nodes;
  readonly #known: KnownId;
  readonly #sent: <T>(node: string, call: Promise<T>) => Promise<T>;
  #id: string | null = null;

  /** @param sent ends a call to a node in time, also to one that does not count as answering */
  constructor(nodes: Nodes, known: KnownId, sent: <T>(node: string, call: Promise<T>) => Promise<T>) {
    this.#nodes = nodes;
    this.#known = known;
    this.#sent = sent;
  }

  /** Asks the node whether it is ours. Rejects with NotOurs, and with whatever a call rejects with. */
  async check(node: string): Promise<void> {
    const mark = this.#markOn(node);
    if (mark === undefined) return;
    try {
      const found = await this.#idAt(node, mark);
      if (found !== null && found === this.#id) return;
      await this.#compare(node, mark, found);
    } catch (error) {
      // The slot is on its way elsewhere: this mark says nothing of the node.
      if (redirectionOf(error) === undefined && wordOf(error) !== 'TRYAGAIN') throw error;
    }
  }

  /**
   * Takes the store as it is from now on, and marks all of it. Other gateways that knew what we knew follow. Gives its
   * id.
   */
  async accept(): Promise<string> {
    // Nobody can accept what this version does not know.
    await this.#home();
    const known = this.#known.read() ?? (await this.#archived());
    const id = await this.#mark(STORE, known ?? newId(), known ?? '');
    await Promise.all(ALL_MARKS.map((mark) => this.#command(this.#ownerOf(mark), 'hset', mark, 'id', id)));
    await this.#marked();
    this.#remember(id);
    return id;
  }

  /** The node does not have the id that was last seen. */
  async #compare(node: string, mark: string, found: string | null): Promise<void> {
    // Another process of the machine may have learnt it, or accepted another.
    const known = this.#known.read() ?? (await this.#firstId());
    if (await this.#isAt(this.#ownerOf(STORE), known)) await this.#mark(STORE, known, '');
    const home = await this.#home();
    if (home !== null && (home.id === known || home.also.includes(known))) {
      if (home.format === null) await this.#command(this.#ownerOf(STORE), 'hset', STORE, 'format', FORMAT);
      this.#remember(home.id);
      // Whoever began to mark the nodes may have died, or be at it.
      if (!home.isMarked) await this.#markAll(home.id);
      // Marks that a node still has vouch for those of it that were evicted, and for no other node.
      else if (await this.#isAt(node, home.id)) await this.#markEach(this.#marksOf(node), home.id);
      if ((await this.#idAt(node, mark)) === home.id) return;
    }
    throw new NotOurs(
      `it has lost its data or is another one: it has ${found === null ? 'no id' : `the id ${found}`}, not ${known}. ` +
        `Bring the data back, or accept it as it is with "petgate store accept"`,
    );
  }

  /** The id of a store of which nothing is known here: the one it has, or had by the archive, else a new one. */
  async #firstId(): Promise<string> {
    const home = await this.#home();
    if (home !== null) return home.id;
    // A Cluster may have lost the first mark and no other.
    const others = await Promise.all(ALL_MARKS.map((mark) => this.#idAt(this.#ownerOf(mark), mark)));
    const archived = others.find((id) => id !== null) ?? (await this.#archived());
    return archived ?? this.#mark(STORE, newId(), '');
  }

  async #archived(): Promise<string | null> {
    try {
      return await this.#known.archived();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new NotOurs(
        `it has no id, and only the archive knows whether it is new or has lost its data: ${reason} Bring ` +
          'PostgreSQL back, or take LEDGER_URL away where there never was an archive',
      );
    }
  }

  /** Whether any mark on the node has this id. */
  async #isAt(node: string, id: string): Promise<boolean> {
    return (await Promise.all(this.#marksOf(node).map((mark) => this.#idAt(node, mark)))).includes(id);
  }

  async #markAll(id: string): Promise<void> {
    await this.#markEach(ALL_MARKS, id);
    await this.#marked();
  }

  async #markEach(marks: readonly string[], id: string): Promise<void> {
    await Promise.all(marks.map((mark) => this.#mark(mark, id, '')));
  }

  #marksOf(node: string): readonly string[] {
    return ALL_MARKS.filter((mark) => this.#ownerOf(mark) === node);
  }

  async #marked(): Promise<void> {
    await this.#command(this.#ownerOf(STORE), 'hset', STORE, 'marked', '1');
  }

  async #home(): Promise<Home | null> {
    const found = await this.#command(this.#ownerOf(STORE), 'hmget', STORE, 'id', 'also', 'marked', 'format');
    const [id, also, marked, format = null] = (found as readonly (Buffer | null)[]).map(
      (value) => value?.toString() ?? null,
    );
    if (id === null || id === undefined) return null;
    if (format !== null && !isKnownFormat(format))
      throw new NotOurs(
        `its data has format ${format}, which this version of Petgate does not know: start the version that ` +
          'wrote it, or a later one',
      );
    await this.#refuseImport(format);
    return { id, also: (also ?? '').split(' '), isMarked: marked === '1', format };
  }

  /** Keys that 0.2 staged would be valid here before their import is. In a marked store no answer is no reason. */
  async #refuseImport(format: string | null): Promise<void> {
    const found = await this.#command(this.#ownerOf(IMPORT), 'exists', IMPORT).catch((error: unknown) => {
      if (format === null) throw error;
      return 0;
    });
    if (found !== 0)
      throw new NotOurs(
        'an import of keys that 0.2 began is unfinished in it: start 0.2 once more and run its "petgate keys import" ' +
          'again, which finishes or drops it',
      );
  }

  async #idAt(node: string, mark: string): Promise<string | null> {
    return ((await this.#command(node, 'hget', mark, 'id')) as Buffer | null)?.toString() ?? null;
  }

  async #mark(mark: string, id: string, also: string): Promise<string> {
    const name = this.#ownerOf(mark);
    const run = this.#nodes.run({ name, asking: false }, MARK, [mark], ANY_TIME, [id, also]);
    return (await this.#sent(name, run)).toString('utf8', CLOCK_BYTES);
  }

  #command(name: string, command: string, ...args: string[]): Promise<unknown> {
    return this.#sent(name, this.#nodes.send({ name, asking: false }, command, args));
  }

  #remember(id: string): void {
    if (this.#id === id) return;
    this.#id = id;
    if (this.#known.read() !== id) this.#known.write(id);
  }

  #ownerOf(mark: string): string {
    return this.#nodes.ownerOf(mark);
  }

  /**
   * A mark that the node has, another each time: one that was evicted is to be met before the others are. Undefined
   * where the node has so few slots that there is none.
   */
  #markOn(node: string): string | undefined {
    const from = Math.floor(Math.random() * ALL_MARKS.length);
    return [...ALL_MARKS.slice(from), ...ALL_MARKS.slice(0, from)].find((mark) => this.#ownerOf(mark) === node);
  }
}

function newId(): string {
  return randomBytes(12).toString('hex');
}

/** The first names whose slots lie in each of so many parts of all slots. */
function spreadMarks(): readonly string[] {
  const found = new Map<number, string>();
  for (let n = 0; found.size < MARKS; n += 1) {
    const part = Math.floor((slotOf(storeMark(n)) * MARKS) / SLOTS);
    if (!found.has(part)) found.set(part, storeMark(n));
  }
  return [...found.values()];
}
