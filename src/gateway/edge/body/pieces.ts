/** Bytes that arrive in pieces, kept in one block: a Buffer per byte would take a hundred times as much memory. */
export class Pieces {
  #block: Buffer | null = null;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    const bytes = this.#bytes + piece.length;
    if (this.#block === null) this.#block = piece;
    else {
      if (bytes > this.#block.length) this.#grow(2 * bytes);
      piece.copy(this.#block, this.#bytes);
    }
    this.#bytes = bytes;
  }

  whole(): Buffer {
    return this.#block === null ? Buffer.alloc(0) : this.#block.subarray(0, this.#bytes);
  }

  #grow(bytes: number): void {
    const block = Buffer.allocUnsafeSlow(bytes);
    this.#block!.copy(block, 0, 0, this.#bytes);
    this.#block = block;
  }
}
