import t from 'tap';
import ts from 'typescript';
import { filesIn } from './source-files.js';

/** Words of our own for what the field has a word for, and that word. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['told', 'pending event, emitted'],
  ['tell', 'emit, report'],
  ['tells', 'emits'],
  ['teller', 'reporter'],
  ['credit', 'failure report'],
  ['credits', 'failure reports'],
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
