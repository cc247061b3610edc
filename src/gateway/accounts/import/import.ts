import { patiently } from '../../store/retry.js';
import type { ImportStore, IncomingKey, KeyStore } from '../../store/port.js';
import { randomBase62 } from '../base62.js';
import type { Body } from '../fields.js';
import { readIncoming, sameKey } from './line.js';
import type { ImportRules } from './line.js';
import { KeyRefused } from '../refused.js';

/** One line of the file, counted from 1: a JSON object, or why it is none. */
export type ImportLine = { readonly line: number } & ({ readonly body: Body } | { readonly problem: string });

/** `unchanged`: keys that were here already, just as the file says. */
export interface ImportResult {
  readonly imported: number;
  readonly unchanged: number;
}

interface ImportParts {
  readonly store: KeyStore;
  readonly rules: ImportRules;
  readonly actor: string;
}

/** Nothing was imported. `problems` name their lines, without quoting a hash. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Keys staged in one step: few, so that requests get their turn in between. */
const STAGED_AT_ONCE = 500;
const READ_AT_ONCE = 32;
const PROBLEMS_MOST = 1_000;
const ATTEMPTS = 5;

/**
 * Brings in all keys of `lines`, or none. Lines are checked and staged as they come, where no admission
 * sees them, so that memory stays small. Only when every one is good, one write makes all of them good
 * keys at once. A process that dies before that write leaves nothing that is ever used; after it the
 * keys are there, and the same file once more finds all of them `unchanged`.
 *
 * Rejects with ImportRefused for the lines, KeyRefused while another import runs, ImportLost.
 */
export async function importKeys(parts: ImportParts, lines: AsyncIterable<ImportLine>): Promise<ImportResult> {
  const { imports } = parts.store;
  const id = randomBase62(12);
  await open(imports, id);
  let result: ImportResult;
  try {
    result = await stageAll(parts, id, lines);
    if (result.imported > 0) await imports.commit(id);
    else await imports.drop(id, 'own');
  } catch (error) {
    // What can't be dropped now is abandoned, and the next import drops it.
    await imports.drop(id, 'own').catch(() => undefined);
    throw error;
  }
  // The keys are good already; should this fail, the next list or import goes on with it.
  await imports.settle(id).catch(() => undefined);
  return result;
}

/** Opens the import. One that was left behind is finished first: forwards when it was committed, else backwards. */
async function open(imports: ImportStore, id: string): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const there = await imports.open(id);
    if (there === undefined) return;
    if (there.phase === 'committed') await imports.settle(there.id);
    else if (there.abandoned) await imports.drop(there.id, 'abandoned');
    else break;
  }
  throw new KeyRefused('conflict', [
    'another import is under way, or was cut off a moment ago: try again in 15 seconds',
  ]);
}

async function stageAll(parts: ImportParts, id: string, lines: AsyncIterable<ImportLine>): Promise<ImportResult> {
  const problems: string[] = [];
  let imported = 0;
  let unchanged = 0;
  for await (const batch of batchesOf(lines)) {
    const result = await stageSome(parts, id, batch, problems);
    imported += result.imported;
    unchanged += result.unchanged;
    if (problems.length >= PROBLEMS_MOST) {
      problems.push(`after so many problems nothing was read beyond line ${batch.at(-1)?.line ?? 0}`);
      break;
    }
  }
  if (problems.length > 0) throw new ImportRefused(problems);
  return { imported, unchanged };
}

async function stageSome(
  parts: ImportParts,
  id: string,
  batch: readonly ImportLine[],
  problems: string[],
): Promise<ImportResult> {
  const good: { readonly line: number; readonly key: IncomingKey }[] = [];
  const report = (line: number, problem: string): void => void problems.push(`line ${line}: ${problem}`);
  for (const each of batch) {
    const read = 'problem' in each ? { problems: [each.problem] } : readIncoming(each.body, parts.rules, parts.actor);
    if ('problems' in read) for (const problem of read.problems) report(each.line, problem);
    else good.push({ line: each.line, key: read });
  }
  const outcomes = await parts.store.imports.stage(
    id,
    good.map(({ key }) => key),
  );
  const present = good.filter((_, place) => outcomes[place] === 'present');
  const others = new Set(
    await differing(
      parts.store,
      present.map(({ key }) => key),
    ),
  );
  for (const { line, key } of present) {
    if (others.has(key))
      report(
        line,
        `id: the key ${key.record.id} is here already, and is not as this line says; "petgate keys show ${key.record.id}" shows it`,
      );
  }
  good.forEach(({ line, key }, place) => {
    if (outcomes[place] === 'repeated') report(line, `id: the key ${key.record.id} is on an earlier line too`);
  });
  return {
    imported: outcomes.filter((outcome) => outcome === 'staged').length,
    unchanged: present.length - others.size,
  };
}

/** Those of `keys` that differ from the key with their id. */
async function differing(store: KeyStore, keys: readonly IncomingKey[]): Promise<readonly IncomingKey[]> {
  const others: IncomingKey[] = [];
  for (let start = 0; start < keys.length; start += READ_AT_ONCE) {
    const some = keys.slice(start, start + READ_AT_ONCE);
    const records = await patiently(() => Promise.all(some.map(({ record }) => store.read(record.id))));
    others.push(...some.filter(({ record }, place) => !sameKey(record, records[place])));
  }
  return others;
}

async function* batchesOf(lines: AsyncIterable<ImportLine>): AsyncGenerator<readonly ImportLine[], void> {
  let batch: ImportLine[] = [];
  for await (const line of lines) {
    if (batch.push(line) < STAGED_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
