import fc from 'fast-check';
import t from 'tap';
import { parseBytes, parseDurationMs } from '../../../../src/gateway/config/schema/quantity.js';

t.test('durations are read as written', (t) => {
  const rows = [
    ['1ms', 1],
    ['100ms', 100],
    ['5s', 5000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['400d', 34_560_000_000],
    ['0s', 0],
    ['007s', 7000],
  ] as const;
  for (const [text, ms] of rows) t.equal(parseDurationMs(text), ms, text);
  t.end();
});

t.test('sizes are read as written', (t) => {
  const rows = [
    ['1B', 1],
    ['16KiB', 16_384],
    ['1MiB', 1_048_576],
    ['16GiB', 17_179_869_184],
    ['1TiB', 1_099_511_627_776],
  ] as const;
  for (const [text, bytes] of rows) t.equal(parseBytes(text), bytes, text);
  t.end();
});

t.test('anything else is neither', (t) => {
  for (const text of [
    '',
    '5',
    's',
    '5 s',
    '-5s',
    '+5s',
    '1.5s',
    '1e3s',
    '5S',
    '5s ',
    ' 5s',
    '5sm',
    '5min',
    '1h30m',
    '٣s',
    '1234567890s',
    '5s\n',
  ])
    t.equal(parseDurationMs(text), undefined, JSON.stringify(text));
  for (const text of ['', '1', '1K', '1KB', '1kib', '1 MiB', '-1B', '1.5MiB', '1PiB', '999999999TiB', '1B\n'])
    t.equal(parseBytes(text), undefined, JSON.stringify(text));
  t.end();
});

t.test('no text makes them throw', (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const value of [parseDurationMs(text), parseBytes(text)])
        if (value !== undefined && !Number.isSafeInteger(value)) return false;
      return true;
    }),
  );
  t.end();
});
