import type { Cluster, Redis } from 'ioredis';
import { dialNode, isCluster, type Client } from './connect.js';
import { LATE_MS, Unsent, wordOf, type Redirection } from './errors.js';
import type { Script } from './script.js';
import { slotOf } from '../keyspace/slot.js';

/** The connection to a Cluster node that has had no slots for this long is dropped. */
const IDLE_MS = 10_000;
/** Minimum interval between requests for the slots of a Cluster. */
const REFRESH_MS = 200;
const REDIAL_MS = 50;
/**
 * A connection on which no probe had a response for this long counts as dead, and another one is dialed. Long enough to
 * survive a stall of Redis.
 */
const SILENCE_MS = 1_000;

export type Argument = string | Buffer;

/** Where a call goes; `asking`: for a slot that is moving there. */
export interface Node {
  readonly name: string;
  readonly asking: boolean;
}

interface Listeners {
  readonly onError: (error: unknown) => void;
  readonly onReady: () => void;
  /** The connection to a node is lost. */
  readonly onLost: (name: string) => void;
  /** A node no longer belongs to the Cluster. */
  readonly onGone: (name: string) => void;
  readonly isUp: (name: string) => boolean;
}

/**
 * Which node has a key, and the connection to it. Nodes are named `host:port`; a single Redis is ''. In a Cluster the
 * ioredis client only finds out which node has which slot. No call goes through it: it would follow redirections
 * itself, to nodes with another clock and health.
 */
export class Nodes {
  /** The connection of a single Redis; of a Cluster, the client that knows its nodes. */
  client: Client;
  readonly #dialled = new Map<string, Redis>();
  /** Since when a node has had no slot, in ms of `performance.now()`. */
  readonly #idle = new Map<string, number>();
  /** Since when no probe of a node had a response, in ms of `performance.now()`. */
  readonly #mute = new Map<string, number>();
  /** Connections on which nothing is sent, but late responses are still read. */
  readonly #retired = new Set<Redis>();
  readonly #on: Listeners;
  #refreshedMs = -Infinity;
  #closed = false;

  constructor(client: Client, on: Listeners) {
    this.client = client;
    this.#on = on;
    this.#listen(client);
    if (isCluster(client)) client.on('refresh', () => this.#letGo(client));
  }

  /** Returns the name of the node that has the slot of `key`; '' in a Cluster while none is known. */
  ownerOf(key: string): string {
    return isCluster(this.client) ? (this.client.slots[slotOf(key)]?.[0] ?? '') : '';
  }

  /** Returns the names of all nodes that have slots. */
  masters(): readonly string[] {
    return isCluster(this.client) ? [...new Set(this.client.slots.map(([name = '']) => name))] : [''];
  }

  /** Whether the owner of any slot is known. */
  get isMapped(): boolean {
    return !isCluster(this.client) || this.client.slots.length > 0;
  }

  /** Returns the connection to a node, dialing if needed; undefined after `close`, and for '' in a Cluster. */
  connectionTo(name: string): Redis | undefined {
    // Otherwise a late call would dial a connection that is never closed.
    if (this.#closed) return undefined;
    if (!isCluster(this.client)) return this.client;
    if (name === '') return undefined;
    const known = this.#dialled.get(name);
    if (known !== undefined) return known;
    const connection = dialNode(this.client, name);
    connection.on('error', this.#on.onError).on('close', () => this.#lost(name, connection));
    this.#dialled.set(name, connection);
    return connection;
  }

  /** Returns a name in a slot of this node; undefined if none is found. */
  nameOn(node: string): string | undefined {
    for (let n = 0; n < 1_000; n += 1) {
      const name = `petgate:{${n}}:probe`;
      if (this.ownerOf(name) === node) return name;
    }
    return undefined;
  }

  /** Sends a command. Rejects with Unsent while there is no connection. */
  send({ name, asking }: Node, command: string, args: readonly Argument[]): Promise<unknown> {
    const connection = this.connectionTo(name);
    if (connection?.status !== 'ready') return Promise.reject(new Unsent());
    if (!asking) return connection.callBuffer(command, [...args]);
    return Promise.all([connection.call('asking'), connection.callBuffer(command, [...args])]).then(
      ([, answer]) => answer,
    );
  }

  /** Runs a script, which may take effect until `guard`, store ms. */
  async run(
    node: Node,
    script: Script,
    keys: readonly string[],
    guard: string,
    args: readonly Argument[],
  ): Promise<Buffer> {
    const rest: Argument[] = [keys.length.toString(), ...keys, guard, ...args];
    try {
      return (await this.send(node, 'evalsha', [script.sha, ...rest])) as Buffer;
    } catch (error) {
      // Redis forgets scripts on a restart, a failover or SCRIPT FLUSH; it has done nothing yet.
      if (wordOf(error) !== 'NOSCRIPT') throw error;
      return (await this.send(node, 'eval', [script.text, ...rest])) as Buffer;
    }
  }

  /** Returns the node to which `from` redirects a call. */
  redirected({ word, slot, address }: Redirection, from: string): Node {
    // Without a host it is the one of the redirecting node.
    const name = address.startsWith(':') ? from.slice(0, from.lastIndexOf(':')) + address : address;
    if (word === 'MOVED') this.#moved(slot, name);
    // The node may have no slots yet, but one is moving there, so it is not idle.
    else this.#idle.delete(name);
    return { name, asking: word === 'ASK' };
  }

  /** Asks the Cluster again who has which slot. */
  refresh(): void {
    const nowMs = performance.now();
    if (!isCluster(this.client) || nowMs - this.#refreshedMs < REFRESH_MS) return;
    this.#refreshedMs = nowMs;
    this.client.refreshSlotsCache();
  }

  /** Notes that a probe of the node had a response. */
  heard(name: string): void {
    this.#mute.delete(name);
  }

  /** Notes that a probe of the node had no response, or no connection; after `SILENCE_MS`, dials another connection. */
  missed(name: string): void {
    const nowMs = performance.now();
    const sinceMs = this.#mute.get(name) ?? nowMs;
    this.#mute.set(name, sinceMs);
    if (nowMs - sinceMs < SILENCE_MS) return;
    const connection = this.connectionTo(name);
    if (connection?.status === 'connect') connection.disconnect(true);
    else if (connection?.status === 'ready') this.#replace(name, connection);
    else return;
    this.#mute.delete(name);
  }

  close(): void {
    this.#closed = true;
    this.client.disconnect();
    for (const connection of [...this.#dialled.values(), ...this.#retired]) connection.disconnect();
  }

  #listen(client: Client): void {
    const { onError, onReady } = this.#on;
    client.on('error', onError).on('node error', onError).on('ready', onReady);
    if (!isCluster(client)) client.on('close', () => this.#lost('', client));
    // ioredis gives up permanently if a failover is announced while it is dialing.
    client.on('end', () => setTimeout(() => this.#redial(client), REDIAL_MS));
  }

  #lost(name: string, connection: Redis): void {
    if (!this.#retired.has(connection)) this.#on.onLost(name);
  }

  #redial(client: Client): void {
    if (!this.#closed && client === this.client) client.connect().catch(() => undefined);
  }

  #replace(name: string, connection: Redis): void {
    if (isCluster(this.client)) this.#dialled.delete(name);
    else this.#listen((this.client = connection.duplicate()));
    this.#retire(connection);
    this.#on.onLost(name);
  }

  /** Stops sending on a connection, and reads what still arrives. */
  #retire(connection: Redis): void {
    if (connection.status !== 'ready') {
      connection.disconnect();
      return;
    }
    this.#retired.add(connection);
    connection.options.retryStrategy = () => null;
    const patience = setTimeout(() => connection.disconnect(), LATE_MS).unref();
    connection.once('end', () => {
      clearTimeout(patience);
      // Also closes its connections to sentinels.
      connection.disconnect();
      this.#retired.delete(connection);
    });
  }

  #moved(slot: number, to: string): void {
    if (!isCluster(this.client)) return;
    this.client.slots[slot] = [to];
    this.refresh();
  }

  #letGo(cluster: Cluster): void {
    const owners = new Set(cluster.slots.map((names) => names[0]));
    const nowMs = performance.now();
    for (const [name, connection] of this.#dialled) {
      if (owners.has(name)) {
        this.#idle.delete(name);
        continue;
      }
      const sinceMs = this.#idle.get(name) ?? nowMs;
      this.#idle.set(name, sinceMs);
      if (this.#on.isUp(name) && nowMs - sinceMs < IDLE_MS) continue;
      this.#idle.delete(name);
      this.#dialled.delete(name);
      this.#on.onGone(name);
      this.#retire(connection);
    }
  }
}
