import t from 'tap';
import { ReadBuffer, SHARED } from '../../../../src/gateway/upstream/http1/read-buffer.js';

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
