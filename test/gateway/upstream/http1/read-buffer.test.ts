import t from 'tap';
import { ReadBuffer, release, SHARED } from '../../../../src/gateway/upstream/http1/read-buffer.js';

t.test('a piece that was given away never changes, whatever is read after it', (t) => {
  const buffer = new ReadBuffer();
  const other = new ReadBuffer();
  const given: { readonly piece: Buffer; readonly byte: number }[] = [];
  let byte = 0;
  const read = (from: ReadBuffer, isLong: boolean, length: number): void => {
    byte = (byte + 1) % 256;
    const target = from.next(isLong);
    target.fill(byte, 0, length);
    given.push({ piece: from.keep(target.subarray(0, length)), byte });
  };
  for (let n = 0; n < 500; n += 1) {
    read(buffer, n % 5 !== 0, 1 + ((n * 7919) % 65_536));
    read(other, n % 3 === 0, 1 + ((n * 104_729) % 65_536));
  }
  t.ok(given.every(({ piece, byte }) => piece.every((one) => one === byte)));
  t.end();
});

t.test('a connection reads into the shared buffer, unless an answer goes on; small pieces keep no buffer', (t) => {
  const buffer = new ReadBuffer();
  t.equal(buffer.next(false), SHARED);
  const own = buffer.next(true);
  t.not(own, SHARED);
  t.not(buffer.keep(own.subarray(0, 100)).buffer, own.buffer, 'a small piece is copied');
  t.equal(buffer.next(true), own, 'and its buffer used again');
  t.equal(buffer.keep(own.subarray(0, 20_000)).buffer, own.buffer, 'a large one is not');
  t.not(buffer.next(true), own, 'and its buffer is not used again');
  t.equal(buffer.next(false), SHARED);
  t.end();
});

t.test('what is read into a block again is only what was released, all of it, and released once', (t) => {
  const buffers = Array.from({ length: 5 }, () => new ReadBuffer());
  const blocks = new Set<ArrayBufferLike>();
  const held: { readonly piece: Buffer; readonly byte: number }[] = [];
  let state = 12_345;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  for (let n = 0; n < 5_000; n += 1) {
    const buffer = buffers[random(buffers.length)]!;
    const target = buffer.next(random(4) > 0);
    blocks.add(target.buffer);
    const length = 1 + random(target.length);
    const cut = random(length);
    const byte = n % 256;
    target.fill(byte, 0, length);
    // As chunks come: two pieces of one read.
    for (const piece of [target.subarray(0, cut), target.subarray(cut, length)])
      held.push({ piece: buffer.keep(piece), byte });
    while (held.length > 20) {
      const { piece, byte } = held.splice(random(held.length), 1)[0]!;
      if (!piece.every((one) => one === byte)) t.fail(`a piece of ${piece.length} bytes changed`);
      release(piece);
      if (random(3) === 0) release(piece);
    }
  }
  t.ok(held.every(({ piece, byte }) => piece.every((one) => one === byte)));
  t.ok(blocks.size < 60, `${blocks.size} blocks for 5,000 reads`);
  t.end();
});
