import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { prettyLine } from '../../src/shared/log-lines.js';

t.test('a line on a terminal has time, level, program and message first, and nothing that says nothing', (t) => {
  const line = JSON.stringify({
    level: 'warn',
    time: '2026-11-21T14:10:46.756Z',
    program: 'gateway',
    pid: 7,
    key: 'abc',
    code: null,
    status: 429,
    msg: 'exchange',
  });
  t.equal(stripVTControlCharacters(prettyLine(line)), '14:10:46.756 warn  gateway exchange key=abc status=429\n');
  t.end();
});

t.test('control characters from outside cannot reach the terminal', (t) => {
  t.notMatch(
    stripVTControlCharacters(prettyLine(JSON.stringify({ level: 'info', msg: 'x', id: 'a\u0007b' }))),
    '\u0007',
  );
  t.end();
});
