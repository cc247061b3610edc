import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { readProxyHeader, type ProxyReading } from '../../../../src/gateway/edge/proxy-protocol/header.js';
import { binaryHeader, proxiedHeader, textHeader, type End } from '../../../servers/proxy-header.js';

const text = (line: string): ProxyReading => readProxyHeader(Buffer.from(line, 'latin1'));
const sourceOf = (reading: ProxyReading): string | null => (typeof reading === 'string' ? reading : reading.source);
const HERE = { address: '192.0.2.1', port: 443 };
const HERE6 = { address: '2001:db8:0:0:0:0:0:1', port: 443 };

t.test('version 1 names the source of TCP over IPv4 and IPv6', (t) => {
  const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n';
  t.same(text(line), { length: line.length, source: '203.0.113.7' });
  t.same(
    text(`${line}GET / HTTP/1.1\r\n`),
    { length: line.length, source: '203.0.113.7' },
    'what follows is not its own',
  );
  t.equal(
    sourceOf(text('PROXY TCP6 2001:DB8:0:0:0:0:0:7 2001:db8::1 0 65535\r\n')),
    '2001:db8::7',
    'as a socket writes it',
  );
  t.equal(sourceOf(text('PROXY TCP6 ::ffff:203.0.113.7 ::1 1 2\r\n')), '::ffff:203.0.113.7');
  const longest = `PROXY UNKNOWN ${'f'.repeat(107 - 'PROXY UNKNOWN \r\n'.length)}\r\n`;
  for (const unknown of ['PROXY UNKNOWN\r\n', 'PROXY UNKNOWN whatever it is 1 2 3\r\n', longest])
    t.same(text(unknown), { length: unknown.length, source: null }, 'who is not named is the sender');
  t.end();
});

t.test('whatever differs from a line of version 1 by a letter is refused', (t) => {
  for (const line of [
    'GET / HTTP/1.1\r\n',
    'PROXY\r\n',
    'PROXY \r\n',
    'proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY  TCP4 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY UNKNOWNS\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2 \r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 -1 2\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n\r\n',
    'PROXY TCP4 1.2.3.4 1.2.3.4\t1 2\r\n',
    'PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP4 1.2.3.256 1.2.3.4 1 2\r\n',
    'PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n',
    'PROXY TCP4 ::1 ::1 1 2\r\n',
    'PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n',
    'PROXY TCP6 ::1 1.2.3.4 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n',
    'PROXY TCP6 1:2:3:4:5:6:7 ::1 1 2\r\n',
    'PROXY TCP6 :::1 ::1 1 2\r\n',
    'PROXY UNKNOWN a\rb\r\n',
    'PROXY UNKNOWN a\nb\r\n',
    `PROXY UNKNOWN ${'f'.repeat(92)}\r\n`,
    `PROXY UNKNOWN ${'f'.repeat(200)}`,
    '\r\nPROXY UNKNOWN\r\n',
    ' PROXY UNKNOWN\r\n',
    '\x16\x03\x01\x02\x00',
  ])
    t.equal(text(line), 'malformed', JSON.stringify(line));
  for (const part of [
    '',
    'P',
    'PROXY ',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2',
    'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r',
    '\r\n\r\n\0',
  ])
    t.equal(text(part), 'incomplete', JSON.stringify(part));
  t.end();
});

t.test('version 2 names the source of TCP over IPv4 and IPv6, whatever vectors come with it', (t) => {
  const caller = { address: '203.0.113.7', port: 56_324 };
  const vectors = [
    [0x02, Buffer.from('pets.example')],
    [0x20, Buffer.alloc(200)],
    [0xea, Buffer.from('vpce-1')],
    [0x04, Buffer.alloc(0)],
  ] as const;
  for (const header of [proxiedHeader(caller, HERE), proxiedHeader(caller, HERE, vectors)]) {
    t.same(readProxyHeader(Buffer.concat([header, Buffer.from('GET /')])), {
      length: header.length,
      source: '203.0.113.7',
    });
  }
  t.equal(
    sourceOf(readProxyHeader(proxiedHeader({ address: '2001:db8:0:0:0:0:0:7', port: 1 }, HERE6, vectors))),
    '2001:db8::7',
  );
  t.equal(
    sourceOf(readProxyHeader(proxiedHeader({ address: '0:0:0:0:0:ffff:cb00:7107', port: 1 }, HERE6))),
    '::ffff:203.0.113.7',
  );
  t.end();
});

t.test('version 2 of who has no address of TCP is its sender, and whatever is none is refused', (t) => {
  const bytes = (command: number, family: number, length: number, said = length): string | null =>
    sourceOf(readProxyHeader(binaryHeader(command, family, Buffer.alloc(length, 1), said)));
  t.equal(bytes(0x20, 0x00, 0), null, 'LOCAL, as health checks are');
  t.equal(bytes(0x20, 0x11, 12), null, 'LOCAL with addresses, which are none');
  t.equal(bytes(0x20, 0xff, 3), null, 'LOCAL, whatever its family');
  t.equal(bytes(0x21, 0x00, 0), null, 'for somebody unknown');
  t.equal(bytes(0x21, 0x31, 216), null, 'from a Unix socket');
  t.equal(bytes(0x21, 0x12, 12), null, 'from a datagram');
  t.equal(bytes(0x21, 0x11, 1008), '1.1.1.1', 'the longest');
  for (const [name, found] of Object.entries({
    'version 1 in binary': bytes(0x11, 0x11, 12),
    'version 3': bytes(0x31, 0x11, 12),
    'an unknown command': bytes(0x22, 0x11, 12),
    'an unknown family': bytes(0x21, 0x41, 36),
    'an unknown transport': bytes(0x21, 0x13, 12),
    'too short for IPv4': bytes(0x21, 0x11, 11),
    'too short for IPv6': bytes(0x21, 0x21, 35),
    'too short for Unix': bytes(0x21, 0x31, 215),
    'too long': bytes(0x21, 0x11, 1009),
    'announced too long': bytes(0x20, 0x00, 0, 0xffff),
    'another signature': sourceOf(readProxyHeader(Buffer.from('0d0a0d0a000d0a515549540d2111000c', 'hex'))),
  }))
    t.equal(found, 'malformed', name);
  t.equal(bytes(0x21, 0x11, 11, 12), 'incomplete');
  t.equal(bytes(0x21, 0x11, 0, 12), 'incomplete');
  t.end();
});

/** What a reader that is given the pieces one after the other comes to. */
function readPieces(bytes: Buffer, cuts: readonly number[]): ProxyReading {
  for (const cut of [...cuts.map((at) => at % (bytes.length + 1))].sort((a, b) => a - b)) {
    const reading = readProxyHeader(bytes.subarray(0, cut));
    if (reading !== 'incomplete') return reading;
  }
  return readProxyHeader(bytes);
}

const port = fc.integer({ min: 0, max: 65_535 });
const end4: fc.Arbitrary<End> = fc.record({ address: fc.ipV4(), port });
const end6: fc.Arbitrary<End> = fc.record({
  address: fc
    .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.map((group) => group.toString(16)).join(':')),
  port,
});
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const header = fc.oneof(
  fc
    .tuple(
      fc.oneof(fc.tuple(end4, end4), fc.tuple(end6, end6)),
      fc.boolean(),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), bytes), { maxLength: 2 }),
    )
    .map(([[source, destination], isText, vectors]) =>
      isText ? textHeader(source, destination) : proxiedHeader(source, destination, vectors),
    ),
  fc
    .tuple(fc.constantFrom(0x20, 0x21, 0x22), fc.integer({ min: 0, max: 0x44 }), bytes)
    .map(([command, family, rest]) => binaryHeader(command, family, rest)),
  fc.string({ maxLength: 120 }).map((rest) => Buffer.from(`PROXY ${rest}\r\n`, 'latin1')),
  bytes,
);

t.test(
  'in whatever pieces the bytes come, the reading is the same, and nothing behind the header belongs to it',
  (t) => {
    fc.assert(
      fc.property(header, bytes, fc.array(fc.nat(2000), { maxLength: 8 }), (header, behind, cuts) => {
        const all = Buffer.concat([header, behind]);
        const whole = readProxyHeader(all);
        return (
          isDeepStrictEqual(readPieces(all, cuts), whole) &&
          (typeof whole === 'string' || (whole.length <= all.length && whole.length <= 1024))
        );
      }),
      { numRuns: 3000 },
    );
    t.end();
  },
);

t.test('every source that a sender can write is read as the same address, byte by byte too', (t) => {
  const canonical = (address: string): string => new URL(`http://[${address}]`).hostname;
  fc.assert(
    fc.property(
      fc.oneof(fc.tuple(end4, end4), fc.tuple(end6, end6)),
      fc.boolean(),
      bytes,
      ([source, destination], isText, behind) => {
        const head = isText ? textHeader(source, destination) : proxiedHeader(source, destination);
        const all = Buffer.concat([head, behind]);
        for (let length = 0; length < head.length; length += 1)
          if (readProxyHeader(all.subarray(0, length)) !== 'incomplete') return false;
        const reading = readProxyHeader(all);
        if (typeof reading === 'string' || reading.source === null || reading.length !== head.length) return false;
        return source.address.includes(':')
          ? canonical(reading.source) === canonical(source.address)
          : reading.source === source.address;
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});
