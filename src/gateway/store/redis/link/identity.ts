import { randomBytes } from 'node:crypto';
import { FORMAT, isKnownFormat } from '../../format.js';
import type { KnownStore } from '../../known-store.js';
import { STORE } from '../keyspace/names.js';
import { NotOurs, redirectionOf, wordOf } from './errors.js';
import { ALL_MARKS } from '../keyspace/marks.js';
import type { Nodes } from './nodes.js';
import { StoreProgress } from './progress.js';
import { ANY_TIME, CLOCK_BYTES, loadScript } from './script.js';

const MARK = loadScript('gateways/mark-store');

const RESTORED =
  'it was restored to an older state: gateways know of changes of keys, customers or bans that it lacks. Bring the ' +
  'newer data back, or accept it as it is with "petgate store accept", which first writes back what gateways know';

/** Contents of a mark. */
interface MarkState {
  readonly id: string | null;
  /** How many changes of records it has counted, and how many of these removed rights. */
  readonly changes: number;
  readonly restrictions: number;
  /** Empty, or set by a gateway that found the node restored: how often the store was accepted by then, and why. */
  readonly doubt: string;
  /** Only in the first mark, like `environment`. */
  readonly accepted: number;
  readonly environment: string | null;
}

/** What the first mark says about the whole store. */
interface Home {
  readonly id: string;
  /** IDs of other stores that it replaces, because an operator accepted it. */
  readonly also: readonly string[];
  /** Whether every mark was written. */
  readonly isMarked: boolean;
  /** How often an operator accepted it as it was. */
  readonly accepted: number;
  readonly environment: string | null;
}

interface IdentityParts {
  readonly nodes: Nodes;
  readonly known: KnownStore;
  /** Applies the deadline to a call, even if the node does not count as responding. */
  readonly sent: <T>(node: string, call: Promise<T>) => Promise<T>;
  /** This gateway's environment; null if it uses any store. */
  readonly environment: string | null;
}

/**
 * Checks whose data a node has, and whether it is the newest. A random ID is created once, stored on each master, and
 * remembered here together with the number of changes counted next to it. A Redis that is empty, restored from an old
 * snapshot, or another one, responds as if a key had never existed; only this check tells the difference.
 */
export class Identity {
  /** Writes newer data that this gateway has into the store. */
  writeBack: () => Promise<void> = () => Promise.resolve();
  readonly #parts: IdentityParts;
  readonly #progress: StoreProgress;
  #id: string | null = null;
  /** Whether `writeBack` was called for the restored state that was found last. */
  #isWrittenBack = false;
  #adopting: Promise<void> | undefined;

  constructor(parts: IdentityParts) {
    this.#parts = parts;
    this.#progress = new StoreProgress(parts.known);
  }

  /**
   * Checks that the node is ours, and not older than it was. Rejects with NotOurs, or as its calls do.
   * @param isBack whether it may be another node, or have other data, than at the last check
   */
  async check(node: string, isBack: boolean): Promise<void> {
    if (isBack) this.#progress.reload();
    await Promise.all(this.#marksToAsk(node, isBack).map((mark) => this.#checkMark(node, mark)));
  }

  /** Reports that the data near `mark` was restored to an older state: it is no longer trusted. */
  async doubt(mark: string): Promise<NotOurs> {
    const doubt = `${this.#progress.accepted} ${RESTORED}`;
    await this.#command(this.#ownerOf(mark), 'hset', mark, 'doubt', doubt);
    return new NotOurs(RESTORED);
  }

  /**
   * Accepts the store as it is, and marks all of it. If it is not as this gateway knew it, first writes newer data back
   * and then counts the acceptance; other gateways that knew the same store follow. Returns its ID.
   * @param isForced also if it belongs to another environment; it then belongs to this gateway's
   */
  async accept(isForced: boolean): Promise<string> {
    const { environment } = this.#parts;
    // Throws for a format that this version does not know: such a store cannot be accepted.
    const home = await this.#home();
    if (home !== null && !isForced) this.#requireEnvironment(home);
    const known = this.#parts.known.read() ?? (await this.#archived());
    const isAsKnown = home?.id === known && !(await this.#isAnySuspect());
    const id = await this.#mark(STORE, known ?? newId(), known ?? '');
    await Promise.all(ALL_MARKS.map((mark) => this.#command(this.#ownerOf(mark), 'hset', mark, 'id', id)));
    await this.#marked();
    if (environment !== null) await this.#command(this.#ownerOf(STORE), 'hset', STORE, 'environment', environment);
    if (!isAsKnown) {
      await this.writeBack();
      const accepted = Math.max(home?.accepted ?? 0, this.#progress.accepted) + 1;
      await this.#command(this.#ownerOf(STORE), 'hset', STORE, 'accepted', accepted.toString());
      this.#progress.reset(accepted);
    }
    this.#remember(id);
    return id;
  }

  async #checkMark(node: string, mark: string): Promise<void> {
    try {
      const found = await this.#foundAt(node, mark);
      if (found.id === null || found.id !== this.#id || this.#isSuspect(mark, found))
        await this.#compare(node, mark, found.id);
      else this.#progress.note(mark, found);
    } catch (error) {
      // The slot is moving: this mark says nothing about the node.
      if (redirectionOf(error) === undefined && wordOf(error) !== 'TRYAGAIN') throw error;
    }
  }

  /** Handles a mark that differs from what was seen last. Throws NotOurs unless the store is still trusted. */
  async #compare(node: string, mark: string, found: string | null): Promise<void> {
    // Another process of this machine may have learned the ID, or accepted another store.
    const known = this.#parts.known.read() ?? (await this.#firstId());
    if (await this.#isAt(this.#ownerOf(STORE), known)) await this.#mark(STORE, known, '');
    const home = await this.#home();
    if (home !== null && (home.id === known || home.also.includes(known))) {
      this.#requireEnvironment(home);
      if (home.environment === null) await this.#mark(STORE, home.id, '');
      this.#remember(home.id);
      // The gateway that began to mark the nodes may have died, or may still be marking them.
      if (!home.isMarked) await this.#markAll(home.id);
      // The remaining marks of a node vouch for its evicted ones, but for no other node.
      else if (await this.#isAt(node, home.id)) await this.#markEach(this.#marksOf(node), home.id);
      this.#progress.reload();
      if (home.accepted > this.#progress.accepted) await (this.#adopting ??= this.#adopt(home.accepted));
      const now = await this.#foundAt(node, mark);
      if (now.id === home.id) return this.#requireNewest(mark, now, home);
    }
    throw new NotOurs(
      `it has lost its data or is another one: it has ${found === null ? 'no id' : `the id ${found}`}, not ${known}. ` +
        `Bring the data back, or accept it as it is with "petgate store accept"`,
    );
  }

  /** Throws NotOurs for an older state of our own store. */
  async #requireNewest(mark: string, found: MarkState, home: Home): Promise<void> {
    const isBehind = home.accepted < this.#progress.accepted || this.#progress.isBehind(mark, found);
    if (!isBehind && !isInForce(found.doubt, home.accepted)) {
      this.#isWrittenBack = false;
      this.#progress.note(mark, found);
      return;
    }
    if (!isInForce(found.doubt, home.accepted))
      await this.#command(this.#ownerOf(mark), 'hset', mark, 'doubt', `${home.accepted} ${RESTORED}`);
    if (!this.#isWrittenBack) {
      this.#isWrittenBack = true;
      // A failure is ignored: accepting the store does it again, and waits for it.
      this.writeBack().catch(() => undefined);
    }
    throw new NotOurs(RESTORED);
  }

  /** Follows an acceptance of the store: writes newer data back before this gateway trusts it. */
  async #adopt(accepted: number): Promise<void> {
    try {
      await this.writeBack();
      this.#progress.reset(accepted);
    } finally {
      this.#adopting = undefined;
    }
  }

  #requireEnvironment(home: Home): void {
    const { environment } = this.#parts;
    if (environment === null || home.environment === null || home.environment === environment) return;
    // So that every node is checked again.
    this.#id = null;
    throw new NotOurs(
      `it belongs to the environment "${home.environment}", and this gateway runs "${environment}". Set REDIS_URL to ` +
        `the Redis of "${environment}", or move this one over with "petgate store accept --environment ${environment}"`,
    );
  }

  #isSuspect(mark: string, found: MarkState): boolean {
    const { accepted } = this.#progress;
    if (this.#progress.isBehind(mark, found) || isInForce(found.doubt, accepted)) return true;
    const { environment } = this.#parts;
    return (
      mark === STORE && (found.accepted !== accepted || (environment !== null && found.environment !== environment))
    );
  }

  async #isAnySuspect(): Promise<boolean> {
    const found = await Promise.all(ALL_MARKS.map((mark) => this.#foundAt(this.#ownerOf(mark), mark)));
    return found.some((one, n) => this.#isSuspect(ALL_MARKS[n]!, one));
  }

  /** Returns the ID of a store that is unknown here: its own, the one in the archive, or a new one. */
  async #firstId(): Promise<string> {
    const home = await this.#home();
    if (home !== null) return home.id;
    // A Cluster may have lost only the first mark.
    const others = await Promise.all(ALL_MARKS.map((mark) => this.#idAt(this.#ownerOf(mark), mark)));
    const archived = others.find((id) => id !== null) ?? (await this.#archived());
    return archived ?? this.#mark(STORE, newId(), '');
  }

  async #archived(): Promise<string | null> {
    try {
      return await this.#parts.known.archived();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new NotOurs(
        `it has no id, and only the archive knows whether it is new or has lost its data: ${reason} Bring ` +
          'PostgreSQL back, or unset LEDGER_URL if there never was an archive',
      );
    }
  }

  /** Returns whether any mark on the node has this ID. */
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
    const fields = ['id', 'also', 'marked', 'format', 'accepted', 'environment'];
    const found = await this.#fieldsOf(this.#ownerOf(STORE), STORE, fields);
    const { id, also = '', marked, format, accepted = 0, environment = null } = found;
    if (id === undefined) return null;
    if (format === undefined) throw new NotOurs('version 0.2 wrote its data: start 0.3 on it first, which converts it');
    if (!isKnownFormat(format))
      throw new NotOurs(
        `its data has format ${format}, which this version of Petgate does not know: start the version that ` +
          'wrote it, or a later one',
      );
    return { id, also: also.split(' '), isMarked: marked === '1', accepted: Number(accepted), environment };
  }

  async #idAt(node: string, mark: string): Promise<string | null> {
    return (await this.#fieldsOf(node, mark, ['id']))['id'] ?? null;
  }

  async #foundAt(node: string, mark: string): Promise<MarkState> {
    const fields = ['id', 'changes', 'restrictions', 'doubt', 'accepted', 'environment'];
    const found = await this.#fieldsOf(node, mark, fields);
    const { id = null, changes = 0, restrictions = 0, doubt = '', accepted = 0, environment = null } = found;
    const counted = { changes: Number(changes), restrictions: Number(restrictions), accepted: Number(accepted) };
    return { id, ...counted, doubt, environment };
  }

  /** Returns those of the fields that the mark has. */
  async #fieldsOf(node: string, mark: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const found = (await this.#command(node, 'hmget', mark, ...names)) as readonly (Buffer | null)[];
    return Object.fromEntries(names.flatMap((name, n) => (found[n] ? [[name, found[n].toString()]] : [])));
  }

  async #mark(mark: string, id: string, also: string): Promise<string> {
    const name = this.#ownerOf(mark);
    const isFirst = mark === STORE;
    const { changes, restrictions } = this.#progress.of(mark);
    // An evicted mark continues counting from where it was.
    const kept = { changes, restrictions, ...(isFirst ? { accepted: this.#progress.accepted, format: FORMAT } : {}) };
    const args = [
      id,
      also,
      (isFirst ? this.#parts.environment : null) ?? '',
      ...Object.entries(kept).flat().map(String),
    ];
    const run = this.#parts.nodes.run({ name, asking: false }, MARK, [mark], ANY_TIME, args);
    return (await this.#parts.sent(name, run)).toString('utf8', CLOCK_BYTES);
  }

  #command(name: string, command: string, ...args: string[]): Promise<unknown> {
    const { nodes, sent } = this.#parts;
    return sent(name, nodes.send({ name, asking: false }, command, args));
  }

  #remember(id: string): void {
    if (this.#id === id) return;
    this.#id = id;
    if (this.#parts.known.read() !== id) this.#parts.known.write(id);
  }

  #ownerOf(mark: string): string {
    return this.#parts.nodes.ownerOf(mark);
  }

  /**
   * Returns the marks to check on a node: the first mark, if it is there, and a random other one, so that an evicted
   * one is found before all are evicted. For a master of a Cluster that is back, all its marks, because each has its
   * own counts.
   */
  #marksToAsk(node: string, isBack: boolean): readonly string[] {
    const from = Math.floor(Math.random() * ALL_MARKS.length);
    const own = this.#marksOf(node);
    if (isBack && this.#parts.nodes.client.isCluster) return own;
    const rotated = [...own.slice(from % own.length), ...own.slice(0, from % own.length)];
    const others = rotated.filter((mark) => mark !== STORE).slice(0, 1);
    return own.includes(STORE) ? [STORE, ...others] : others;
  }
}

/** Returns whether a gateway's doubt applies: it is void once the store was accepted again. */
function isInForce(doubt: string, accepted: number): boolean {
  return doubt.startsWith(`${accepted} `);
}

function newId(): string {
  return randomBytes(12).toString('hex');
}
