import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { UsageRow } from '../../admission/port.js';
import { ArchiveDamaged } from '../errors.js';
import type { Part } from '../port.js';
import { columnsIn, countsReader, headOf, lineOf, Sealer } from '../seal.js';
import type { Seal } from '../seal.js';

const READ_BYTES = 16_384;
const WRITE_CHARACTERS = 65_536;
/** The last line, and no other, begins so: no key does. */
const SEAL_BEGINS = '{';

/** Writes a day to `path`, on disk when the promise ends: a head, a line for each row, and the seal. */
export async function writeDay(path: string, day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<Seal> {
  const file = await open(path, 'w', 0o600);
  try {
    const head = headOf(day);
    const sealer = new Sealer(head);
    let text = head;
    for await (const batch of rows) {
      for (const row of batch) {
        const line = lineOf(row);
        sealer.add(row, line);
        text += line;
      }
      if (text.length < WRITE_CHARACTERS) continue;
      await file.appendFile(text);
      text = '';
    }
    const seal = sealer.seal();
    await file.appendFile(`${text}${JSON.stringify(seal)}\n`);
    await file.sync();
    return seal;
  } finally {
    await file.close();
  }
}

/** The rows of a day, some at a time. */
export async function* readDay(path: string, day: string, part: Part): AsyncGenerator<readonly UsageRow[]> {
  const file = await open(path, 'r');
  try {
    const head = await headIn(file);
    const read = countsReader(columnsIn(head));
    const wanted = part.keyId ?? part.after ?? null;
    const from = wanted === null ? head.length : await placeOf(file, head.length, wanted);
    const last = part.keyId;
    for await (const lines of linesFrom(file, from)) {
      const rows: UsageRow[] = [];
      for (const line of lines) {
        if (line.startsWith(SEAL_BEGINS)) break;
        const fields = line.split('\t');
        const key = fields[0]!;
        if (last !== undefined && key > last) {
          yield rows;
          return;
        }
        if (key < (part.keyId ?? '') || (part.after !== null && part.after !== undefined && key <= part.after))
          continue;
        rows.push({ key, plan: fields[1]!, operation: fields[2]!, day, ...read(fields) });
      }
      if (rows.length > 0) yield rows;
    }
  } finally {
    await file.close();
  }
}

/** The seal of a day, once all of it was read and is as it says. Rejects with ArchiveDamaged. */
export async function checkDay(path: string, day: string): Promise<Seal> {
  const file = await open(path, 'r');
  try {
    const head = await headIn(file);
    const columns = columnsIn(head);
    if (head !== headOf(day, columns)) throw new ArchiveDamaged(`${path} is not of the day that its name says.`);
    const read = countsReader(columns);
    const sealer = new Sealer(head);
    let sealed: string | undefined;
    for await (const lines of linesFrom(file, head.length)) {
      for (const line of lines) {
        if (sealed !== undefined) throw new ArchiveDamaged(`${path} goes on behind its end.`);
        if (line.startsWith(SEAL_BEGINS)) sealed = line;
        else {
          const [key = '', plan = '', operation = ''] = line.split('\t', 3);
          sealer.add({ key, plan, operation, day, ...read(line.split('\t')) }, `${line}\n`);
        }
      }
    }
    const found = sealer.seal();
    const { sha256, rows } = JSON.parse(sealed ?? '{}') as Partial<Seal>;
    if (sealed === undefined) throw new ArchiveDamaged(`${path} ends too early.`);
    if (sha256 !== found.sha256 || rows !== found.rows)
      throw new ArchiveDamaged(`${path} was changed since it was written.`);
    return found;
  } catch (error) {
    throw error instanceof SyntaxError ? new ArchiveDamaged(`${path} can't be read: ${error.message}`) : error;
  } finally {
    await file.close();
  }
}

async function headIn(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, 0);
  const text = buffer.toString('latin1', 0, bytesRead);
  return text.slice(0, text.indexOf('\n') + 1);
}

/** Whole lines from a place on, some at a time. */
async function* linesFrom(file: FileHandle, from: number): AsyncGenerator<readonly string[]> {
  let rest = '';
  for (let at = from; ;) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  if (rest !== '') throw new ArchiveDamaged('A file of the archive ends in the middle of a line.');
}

/** Where a line begins that stands before all of `key`, and not far: keys are in order. */
async function placeOf(file: FileHandle, first: number, key: string): Promise<number> {
  let [low, high] = [first, (await file.stat()).size];
  while (high - low > READ_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, middle);
    const text = buffer.toString('latin1', 0, bytesRead);
    const begins = text.indexOf('\n') + 1;
    const line = text.slice(begins, text.indexOf('\n', begins));
    if (begins > 0 && !line.startsWith(SEAL_BEGINS) && line.slice(0, line.indexOf('\t')) < key) low = middle + begins;
    else high = middle;
  }
  return low;
}
