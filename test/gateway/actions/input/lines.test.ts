import t from 'tap';
import { readLines } from '../../../../src/gateway/actions/input/lines.js';
import type { ImportLine } from '../../../../src/gateway/accounts/transfer/import.js';

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size)
    yield await Promise.resolve(bytes.subarray(start, start + size));
}

async function linesIn(bytes: Buffer, size: number): Promise<readonly ImportLine[]> {
  const lines: ImportLine[] = [];
  for await (const line of readLines(chunksOf(bytes, size))) lines.push(line);
  return lines;
}

t.test('lines are the same however the bytes are cut, and each keeps its number', async (t) => {
  const long = `{"a":"${'x'.repeat(20_000)}"}`;
  const text = Buffer.concat([
    Buffer.from(`\ufeff{"a":"é🐾"}\r\n\n  \n{"b":1\n[]\n${long}\n{"c":1,"c":2}\n`),
    Buffer.from([0xff]),
    Buffer.from('\n{"last":true}'),
  ]);
  const expected: readonly ImportLine[] = [
    { line: 1, body: { a: 'é🐾' } },
    { line: 4, problem: 'is not valid JSON' },
    { line: 5, problem: 'must be one JSON object, such as {"plan":"free","name":"My app"}' },
    { line: 6, problem: 'is longer than 16384 bytes' },
    { line: 7, problem: 'has the field "c" twice' },
    { line: 8, problem: 'is not UTF-8' },
    { line: 9, body: { last: true } },
  ];
  for (const size of [1, 2, 7, 4_096, 1_000_000]) t.same(await linesIn(text, size), expected, `in pieces of ${size}`);
  t.same(await linesIn(Buffer.alloc(0), 1), []);
});
