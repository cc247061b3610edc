/**
 * Fails if some text makes a regular expression of `src` slow: matching time must grow linearly with the text.
 * Expressions that recheck found safe are remembered in node_modules, so that it checks only new ones.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { runInNewContext } from 'node:vm';
import { check } from 'recheck';
import ts from 'typescript';
import { at, filesIn, readIf, root } from './files.mjs';
import { complain } from './terminal.mjs';

const CACHE = at('node_modules', '.cache', 'petgate', 'regexes.json');
/**
 * Time limit for one expression. The slowest takes 5 s on a busy machine, and a few times that without recheck's
 * binary.
 */
const TIMEOUT_MS = 120_000;
const JOBS = 2;
/** On recheck's attack text, V8 takes about a millisecond after a false alarm, and many seconds after a true one. */
const SLOW_MS = 1_000;

const places = new Map();
for (const file of filesIn(at('src')).filter((name) => /\.(?:tsx?|mjs)$/.test(name))) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      places.set(node.text, [...(places.get(node.text) ?? []), `${relative(root, file)}:${line + 1}`]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

const known = new Set(JSON.parse(readIf(CACHE) ?? '[]'));
const safe = [...places.keys()].filter((literal) => known.has(literal));
const unchecked = [...places.keys()].filter((literal) => !known.has(literal));
const work = async () => {
  for (let literal = unchecked.shift(); literal !== undefined; literal = unchecked.shift()) {
    const end = literal.lastIndexOf('/');
    const found = await check(literal.slice(1, end), literal.slice(end + 1), { timeout: TIMEOUT_MS });
    if (found.status === 'safe' || isFalseAlarm(literal, found)) safe.push(literal);
    else complain(`${places.get(literal).join(', ')}: ${literal} ${problemOf(found)}. Rewrite it, or split the text.`);
  }
};
await Promise.all(Array.from({ length: JOBS }, work));
mkdirSync(dirname(CACHE), { recursive: true });
writeFileSync(CACHE, JSON.stringify(safe));
// Exits explicitly: recheck's process would keep this one alive.
process.exit(safe.length === places.size ? 0 : 1);

/**
 * Returns whether V8 matches recheck's attack text quickly. For an expression with lookaround, recheck only guesses: it
 * tries texts on an engine of its own.
 */
function isFalseAlarm(literal, { status, checker, attack }) {
  if (status !== 'vulnerable' || checker !== 'fuzz') return false;
  try {
    runInNewContext(`${literal}.test(text)`, { text: attack.string }, { timeout: SLOW_MS });
    return true;
  } catch {
    return false;
  }
}

function problemOf({ status, complexity, attack, error }) {
  if (status !== 'vulnerable') return `could not be checked (${error?.kind ?? status})`;
  return `takes ${complexity.summary} time, such as for ${attack.pattern.slice(0, 200)}`;
}
