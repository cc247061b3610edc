import t from 'tap';
import ts from 'typescript';
import { filesIn, luaFiles } from './source-files.js';

/** Words of our own for what the field has a word for, and that word. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['told', 'pending event, emitted'],
  ['tell', 'emit, report'],
  ['tells', 'emits'],
  ['teller', 'reporter'],
  ['good', 'valid, healthy'],
  ['bad', 'invalid'],
  ['unfit', 'invalid'],
  ['unfitness', 'why it is invalid'],
  ['keeper', 'maintenance'],
  ['away', 'unavailable'],
  ['look', 'check, peek, poll'],
  ['patiently', 'with retry'],
  ['restrain', 'apply share'],
  ['hasten', 'probe now'],
  ['bury', 'dead-letter'],
  ['seal', 'checksum'],
  ['sealer', 'checksum'],
  ['joined', 'merged'],
  ['most', 'max'],
  ['place', 'index, slot, location'],
  ['untaken', 'unread'],
]);
/** Phrases of comments, texts and Lua that read like a translation, and what to write. */
const PHRASES: ReadonlyMap<string, string> = new Map([
  ['anew', 'again'],
  ['beside', 'next to, with'],
  ['for ever', 'permanently'],
  ['goes on', 'continues'],
  ['in vain', 'without effect'],
  ['of nothing', 'null'],
  ['so many', 'this many, at most n'],
  ['stands', 'is'],
  ['takes leave', 'deregisters'],
  ['trickles', 'returns one by one'],
  ['trickling', 'one by one'],
  ['whoever', 'anyone who, the client that'],
  ['whole again', 'full, reset'],
  ['is told', 'is notified, gets'],
  ['gives way', 'pauses'],
  ['holds good', 'is valid'],
  ['made by hand', 'manual'],
]);
const PHRASE = new RegExp(`\\b(?:${[...PHRASES.keys()].join('|')})\\b`, 'gi');

/** Types are named for what they are. */
const NO_TYPES: readonly string[] = ['Asked', 'Found', 'Given', 'Held', 'Kept', 'Seen', 'Sent', 'Taken'];
/** What stands in logs and stores keeps its name. */
const KEPT: readonly string[] = ['awayMs'];

/** `mostOfIt`, `MOST_OF_IT` → most, of, it. */
function wordsOf(identifier: string): readonly string[] {
  return identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[ _]/)
    .map((word) => word.toLowerCase());
}

function identifiersOf(path: string, text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text.replace('#', ''));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return found;
}

t.test('identifiers use the words of the field', (t) => {
  const strange = filesIn('src').flatMap(({ path, text }) =>
    [...identifiersOf(path, text)].flatMap((identifier) => {
      if (KEPT.includes(identifier)) return [];
      if (NO_TYPES.includes(identifier)) return [`${path}: ${identifier} → what it is`];
      return wordsOf(identifier).flatMap((word) => {
        const better = INSTEAD.get(word);
        return better === undefined ? [] : [`${path}: ${identifier} → ${better}`];
      });
    }),
  );
  t.strictSame(strange, []);
  t.end();
});

/** Comments and texts of a TypeScript file, each with its line. */
function* proseOf(text: string): Generator<readonly [line: number, prose: string]> {
  const lineOf = (at: number): number => text.slice(0, at).split('\n').length;
  const comment = /\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm;
  for (const { index, 0: prose } of text.matchAll(comment)) yield [lineOf(index), prose];
  const source = ts.createSourceFile('x.tsx', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const texts: (readonly [number, string])[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isJsxText(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    )
      texts.push([lineOf(node.getStart(source)), node.text]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  yield* texts;
}

t.test('comments, texts and Lua are plain English', (t) => {
  const prose = [
    ...filesIn('src').flatMap(({ path, text }) => [...proseOf(text)].map((each) => [path, ...each] as const)),
    ...luaFiles().flatMap(({ path, text }) => text.split('\n').map((line, n) => [path, n + 1, line] as const)),
  ];
  const strange = prose.flatMap(([path, line, text]) =>
    [...text.replaceAll(/\n\s*\*?\s*/g, ' ').matchAll(PHRASE)].map(
      ([phrase]) => `${path}:${line}: ${phrase} → ${PHRASES.get(phrase.toLowerCase())!}`,
    ),
  );
  t.strictSame(strange, []);
  t.end();
});
