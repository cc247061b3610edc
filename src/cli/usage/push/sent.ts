import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { AdminClient } from '../../client.js';
import { CommandError } from '../../command-error.js';
import { idOf, momentOf, unsentCorrections } from './corrections.js';
import { syncFolderOf, type StateFile } from './state.js';

/** Version 0.3 read this last part of the corrections again. */
const OVERLAP_MS = 600_000;

/** Remembers the acknowledged corrections: their event IDs are in a file next to the state, which has its length. */
export class SentCorrections {
  readonly #state: StateFile;
  readonly #file: string;

  constructor(state: StateFile) {
    this.#state = state;
    this.#file = `${state.path}.corrections`;
  }

  ids(): ReadonlySet<string> {
    const { correctionBytes: bytes } = this.#state.state;
    if (bytes === 0) return new Set();
    const text = existsSync(this.#file) ? readFileSync(this.#file).subarray(0, bytes) : Buffer.alloc(0);
    if (text.length < bytes)
      throw new CommandError(
        `${this.#file} is missing or too short. It names the corrections that were sent, and belongs to the state of ` +
          'the push: restore it, or name another --state to send everything again.',
      );
    return new Set(text.toString().trimEnd().split('\n'));
  }

  /** Adds IDs, on disk when this resolves. Cuts off what a killed push wrote beyond the noted length. */
  async add(ids: readonly string[]): Promise<void> {
    const { correctionBytes: bytes } = this.#state.state;
    const text = Buffer.from(ids.map((id) => `${id}\n`).join(''));
    const handle = await open(this.#file, bytes === 0 ? 'w' : 'r+', 0o600);
    try {
      await handle.truncate(bytes);
      await handle.write(text, 0, text.length, bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    syncFolderOf(this.#file);
    this.#state.save({ correctionBytes: bytes + text.length, corrections: null });
  }

  /** Imports what version 0.3 sent, which remembered corrections mostly by time. */
  async takeOver(client: AdminClient): Promise<void> {
    const { corrections: before } = this.#state.state;
    if (before === null) return;
    const since = new Date(Date.parse(before.to) - OVERLAP_MS).toISOString();
    const all = await unsentCorrections(client, new Set());
    await this.add(all.filter((one) => momentOf(one) <= since || before.ids.includes(idOf(one))).map(idOf));
  }
}
