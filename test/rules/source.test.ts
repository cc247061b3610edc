import { basename, dirname } from 'node:path';
import t from 'tap';
import { PROGRAMS, TESTED_ELSEWHERE } from './exceptions.js';
import { filesIn, isTypesOnly, loadedBy } from './source-files.js';

const sources = filesIn('src');
const tests = filesIn('test');
const running = sources.filter((file) => !isTypesOnly(file));
const withoutComments = (text: string): string => text.replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '');
const isTest = ({ path }: { readonly path: string }): boolean => /\.test\.tsx?$/.test(path);

t.test('every source file is loaded by a test, or by a program that a test starts', (t) => {
  const loaded = loadedBy([...tests.filter(isTest).map(({ path }) => path), ...PROGRAMS]);
  t.strictSame(
    running.map(({ path }) => path).filter((path) => !loaded.has(path)),
    [],
    'nobody loads these: test or delete them',
  );
  t.end();
});

t.test('every folder of src has tests in the same folder of test, or the reason stands in exceptions.ts', (t) => {
  const tested = new Set(tests.filter(isTest).map(({ path }) => dirname(path).replace(/^test/, 'src')));
  const folders = new Set(running.filter(({ path }) => !PROGRAMS.includes(path)).map(({ path }) => dirname(path)));
  t.strictSame(
    [...folders].filter((folder) => !tested.has(folder) && !TESTED_ELSEWHERE.has(folder)),
    [],
    'folders without a test',
  );
  for (const folder of TESTED_ELSEWHERE.keys())
    t.ok(folders.has(folder) && !tested.has(folder), `the exception ${folder} is needed`);
  t.end();
});

t.test('no any, no silenced compiler, no silenced linter', (t) => {
  const having = (pattern: RegExp, textOf: (text: string) => string): readonly string[] =>
    sources.filter(({ text }) => pattern.test(textOf(text))).map(({ path }) => path);
  t.strictSame(
    having(/@ts-(?:ignore|expect-error|nocheck)|(?:es|ox)lint-disable/, (text) => text),
    [],
  );
  t.strictSame(having(/:\s*any\b|\bas any\b|<any[,>]|\bany\[\]/, withoutComments), []);
  t.end();
});

/** How many files have the same of what `partOf` returns, if more than `most`. */
function crowded(partOf: (path: string) => string, most: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(partOf(path), (counts.get(partOf(path)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > most).map(([part, count]) => `${count} ${part}`);
}

t.test('at most three files have the same name, and at most 15 are in a folder', (t) => {
  // The pages of the console, a folder for each subject.
  t.strictSame(
    crowded(basename, 3).filter((name) => !name.endsWith(' pages.tsx')),
    [],
  );
  t.strictSame(crowded(dirname, 15), []);
  t.end();
});

t.test('no file is longer than 400 lines', (t) => {
  const lines = (text: string): number => text.split('\n').filter((line) => line !== '').length;
  t.strictSame(
    [...sources, ...tests].filter(({ text }) => lines(text) > 400).map(({ path }) => path),
    [],
  );
  t.end();
});

t.test('no line is longer than 120 columns, but for imports and regular expressions', (t) => {
  const isLong = (line: string): boolean =>
    line.length > 120 && !/^(?:import|export) .* from '|^\s*\/[^/*].*\/[a-z]*[,;]$/.test(line);
  t.strictSame(
    [...sources, ...tests].flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, n) => (isLong(line) ? [`${path}:${n + 1}`] : [])),
    ),
    [],
  );
  t.end();
});

t.test('no test is narrowed, put off or switched off', (t) => {
  const forbidden = /\bt\.(?:only|todo|skip)\(|\b(?:only|skip|todo): true/;
  t.strictSame(
    tests
      .filter(isTest)
      .filter(({ path, text }) => path !== 'test/rules/source.test.ts' && forbidden.test(text))
      .map(({ path }) => path),
    [],
  );
  t.end();
});
