import fc from 'fast-check';
import t from 'tap';
import type { CostSource } from '../../../src/gateway/contract/operation/cost.js';
import { meterOf, unitsOf } from '../../../src/gateway/upstream/meter.js';

const TOKENS: CostSource = { json: ['usage', 'total_tokens'] };
const JSON_TYPE = ['content-type', 'application/json; charset=utf-8'];
const EVENTS = ['content-type', 'text/event-stream'];

/** What a response with this body cost; its pieces lose their memory once they were read. */
function unitsIn(source: CostSource, headers: readonly string[], pieces: readonly Buffer[]): number | null {
  const meter = meterOf(source);
  meter.onHead(headers);
  for (const piece of pieces) {
    const passing = Buffer.from(piece);
    meter.onData(passing);
    passing.fill(0);
  }
  return meter.end();
}

function cut(text: string, places: readonly number[]): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, n) => bytes.subarray(at[n], end));
}

t.test('a figure is a number of whole units, rounded up', (t) => {
  for (const [figure, units] of [
    [0, 0],
    [7, 7],
    [7.01, 8],
    [1_000_000_000, 1_000_000_000],
    [1_000_000_001, null],
    [-1, null],
    [NaN, null],
    ['7', null],
    [null, null],
  ] as const)
    t.equal(unitsOf(figure), units, String(figure));
  t.end();
});

t.test('a header field has the figure, if it is there once and is a number', (t) => {
  const source = { header: 'x-units' };
  t.equal(unitsIn(source, ['x-units', '12.5'], []), 13);
  for (const headers of [[], ['x-units', ''], ['x-units', '-1'], ['x-units', '1e3'], ['x-units', '1', 'x-units', '1']])
    t.equal(unitsIn(source, headers, []), null, JSON.stringify(headers));
  t.end();
});

t.test('bytes cost a unit for each part that was begun', (t) => {
  const source = { bytes: 100 };
  for (const [bytes, units] of [
    [0, 0],
    [1, 1],
    [100, 1],
    [101, 2],
  ] as const)
    t.equal(unitsIn(source, [], [Buffer.alloc(bytes)]), units);
  t.equal(meterOf(source).end(), null, 'nothing is known before there is a response');
  const replaced = meterOf(source);
  replaced.onHead([]);
  replaced.onData(Buffer.alloc(5));
  replaced.onReplaced?.();
  t.equal(replaced.end(), null, 'nor of one that was replaced');
  t.end();
});

t.test('JSON has the figure at the path, however its bytes arrive', (t) => {
  const body = JSON.stringify({ text: 'größer 🐈 "usage"', usage: { total_tokens: 4.2, other: 9 } });
  fc.assert(
    fc.property(
      fc.array(fc.nat(200), { maxLength: 8 }),
      (places) => unitsIn(TOKENS, JSON_TYPE, cut(body, places)) === 5,
    ),
  );
  for (const text of ['', '{', '[]', '7', '{"usage":[7]}', '{"usage":{"total_tokens":"7"}}', `${body}x`])
    t.equal(unitsIn(TOKENS, JSON_TYPE, cut(text, [])), null, text);
  t.equal(unitsIn({ json: ['0', 'n'] }, JSON_TYPE, cut('[{"n":3}]', [])), 3, 'also in an array');
  t.equal(unitsIn({ json: ['toString', 'length'] }, JSON_TYPE, cut('{"x":1}', [])), null, 'only what was sent');
  t.equal(unitsIn(TOKENS, ['content-type', 'application/problem+json'], cut(body, [])), 5);
  t.equal(unitsIn(TOKENS, ['content-type', 'text/html'], cut(body, [])), null);
  t.equal(unitsIn(TOKENS, [...JSON_TYPE, 'content-encoding', 'gzip'], cut(body, [])), null);
  t.end();
});

t.test('a stream has the figure of its last event with one, however its bytes arrive', (t) => {
  const event = (tokens: number): string => `data: {"usage":{"total_tokens":${tokens}},"text":"ä🐈"}`;
  const end = 'data: {"usage":null}';
  for (const line of ['\n', '\r\n', '\r']) {
    const blank = line + line;
    const stream = [
      `: ${event(99)}`,
      event(3),
      `event: x${line}id: 1${line}${event(8)}`,
      end,
      'data: [DONE]',
      event(77),
    ];
    const text = stream.slice(0, -1).join(blank) + blank + stream.at(-1)!;
    fc.assert(
      fc.property(
        fc.array(fc.nat(400), { maxLength: 12 }),
        (places) => unitsIn(TOKENS, EVENTS, cut(text, places)) === 8,
      ),
    );
  }
  const lines = 'data: {"usage":\ndata:{"total_tokens":6}}\n\n';
  t.equal(unitsIn(TOKENS, EVENTS, cut(lines, [])), 6, 'data of several lines is one text');
  t.equal(unitsIn(TOKENS, EVENTS, cut(`${event(5)}\n\n${end}\n\n`, [])), 5);
  t.equal(unitsIn(TOKENS, EVENTS, cut(event(5), [])), null, 'an event that is not over has none');
  t.end();
});

t.test('what is longer than a mebibyte is passed on unread, and memory stays bounded', (t) => {
  const long = 'x'.repeat(64 * 1024);
  const body = [`{"usage":{"total_tokens":1},"text":"`, ...Array.from({ length: 40 }, () => long), '"}'];
  t.equal(
    unitsIn(
      TOKENS,
      JSON_TYPE,
      body.map((text) => Buffer.from(text)),
    ),
    null,
  );
  const line = ['data: {"usage":{"total_tokens":1},"text":"', ...Array.from({ length: 400 }, () => long), '"}\n\n'];
  const after = ['data: {"usage":{"total_tokens":2}}\n\n'];
  const heapBefore = process.memoryUsage().heapUsed;
  t.equal(
    unitsIn(
      TOKENS,
      EVENTS,
      [...line, ...after].map((text) => Buffer.from(text)),
    ),
    2,
    'the next event is read',
  );
  t.ok(process.memoryUsage().heapUsed - heapBefore < 20 * 1024 * 1024);
  t.end();
});

t.test('all bodies together hold at most 64 MiB: more are passed on unread, until others have ended', (t) => {
  const half = Buffer.from(`{"usage":{"total_tokens":3},"text":"${'x'.repeat(500 * 1024)}`);
  const begun = Array.from({ length: 200 }, () => {
    const meter = meterOf(TOKENS);
    meter.onHead(JSON_TYPE);
    meter.onData(half);
    return meter;
  });
  const units = begun.map((meter) => {
    meter.onData(Buffer.from('"}'));
    return meter.end();
  });
  const read = units.filter((figure) => figure === 3).length;
  t.ok(read > 100 && read < 132, 'as many as fit are read', { read });
  t.equal(unitsIn(TOKENS, JSON_TYPE, [half, Buffer.from('"}')]), 3, 'and then the next one is');
  t.end();
});
