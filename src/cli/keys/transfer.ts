import { createReadStream, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Transform } from 'node:stream';
import type { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import type { AdminClient, Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { say, sayJson } from '../output.js';
import { segment } from '../rest/command.js';
import { progressOn } from '../progress.js';

/** `petgate keys import`: a file of keys, each of which is there afterwards. */
export function importCommand(connect: Connect): Command {
  return new Command('import')
    .description('bring in keys that exist elsewhere, by their hashes; if it was cut off, run it again')
    .argument('<file>', 'JSON lines; - reads standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', IMPORT_HELP)
    .action(async (file: string, { json }: { json?: true }) => {
      const client = await connect();
      const startMs = performance.now();
      // What comes by standard input comes once.
      if (file !== '-') await upload(client, file, 'checking', '?check=true');
      const answer = await upload(client, file, 'importing');
      if (json === true) sayJson(answer);
      else say(summaryOf(answer, performance.now() - startMs));
    });
}

async function upload(client: AdminClient, file: string, doing: string, query = ''): Promise<Json> {
  const { lines, bytes } = openLines(file);
  const progress = progressOn(process.stderr);
  let doneBytes = 0;
  const counter = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      doneBytes += chunk.length;
      const fraction = bytes === undefined ? 0 : Math.min(doneBytes / bytes, 1);
      progress.show(fraction, `${doing}, ${(doneBytes / 1e6).toFixed(1)} MB`);
      done(null, chunk);
    },
  });
  lines.on('error', (error) => counter.destroy(unreadable(file, error)));
  return client.upload(`/admin/v1/keys/import${query}`, lines.pipe(counter)).finally(() => {
    progress.end();
    // Refused early: what is still to come, of a terminal perhaps, would keep us waiting.
    lines.destroy();
  });
}

/** `petgate keys export`: every key as JSON lines, or all that is stored about one. */
export function exportCommand(connect: Connect): Command {
  return new Command('export')
    .description('print every key as JSON lines, by id; of one key all that is stored about it, as JSON')
    .argument('[id]', 'only this key, with its history, usage, ban and events')
    .option(
      '--hashes',
      'with the hashes of their secrets, which an import needs; keep such a file as safe as the store',
    )
    .option('--plan <plan>', 'only those on this plan')
    .option('--status <status>', 'only enabled, disabled or revoked ones')
    .option('--name <prefix>', 'only those whose name begins so')
    .option('--output <file>', 'write to this file instead, readable by you alone, there when it is whole')
    .action(async (id: string | undefined, { output, ...options }: ExportOptions) =>
      pourTo(connect, id === undefined ? exportPath(options) : ofOne(id, options), output),
    );
}

type ExportOptions = Readonly<Record<string, string>> & { readonly hashes?: true };

function exportPath({ hashes, ...filter }: ExportOptions): string {
  const query = new URLSearchParams({ ...filter, ...(hashes === true ? { hashes: 'true' } : {}) });
  return `/admin/v1/keys/export?${query.toString()}`;
}

function ofOne(id: string, options: ExportOptions): string {
  if (Object.keys(options).length > 0)
    throw new CommandError('Of one key all is printed but its hashes: leave out the options, except --output.', 2);
  return `/admin/v1/keys/${segment(id)}/export`;
}

/** Copies an answer to standard output, or into a file. */
export async function pourTo(connect: Connect, path: string, output: string | undefined): Promise<void> {
  const client = await connect();
  await (output === undefined ? client.pour(path) : intoFile(output, (out) => client.pour(path, out)));
}

function openLines(file: string): { readonly lines: Readable; readonly bytes: number | undefined } {
  if (file === '-') return { lines: process.stdin, bytes: undefined };
  try {
    return { bytes: statSync(file).size, lines: createReadStream(file) };
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): CommandError {
  return new CommandError(`${file} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}).`);
}

/** Half an export must not look like a whole one: the file gets its name at the end. */
async function intoFile(file: string, write: (out: Writable) => Promise<void>): Promise<void> {
  const part = `${file}.part`;
  try {
    const out = (await open(part, 'w', 0o600)).createWriteStream();
    try {
      await write(out);
    } finally {
      await new Promise<void>((resolve) => out.end(resolve));
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof CommandError) throw error;
    throw new CommandError(`${file} can't be written (${code ?? 'unknown reason'}).`);
  }
}

function summaryOf({ imported, unchanged }: Readonly<Record<string, unknown>>, tookMs: number): string {
  const there = Number(unchanged) === 0 ? '' : ` ${Number(unchanged)} were here already, just as the file says.`;
  return `${Number(imported)} keys imported in ${(tookMs / 1_000).toFixed(1)} s.${there}`;
}

const IMPORT_HELP = `
One key per line:
  {"hash":"…", "plan":"free", "name":"My app"}
hash    SHA-256 of the whole key as clients send it: 64 hex digits, or base64url
hashes  instead, up to two during a rotation, the newest first: ["…", {"hash":"…", "ends":"2027-01-31"}]
id      for keys that Petgate made; a key of any other form gets its id from its hash
Also: note, status (enabled, disabled, revoked), scopes, limits, created, expires.

A file is checked to its end before anything is imported, and every invalid line is named;
of standard input the valid lines are imported as they come. A key that is here already, just
as its line says, is left alone: cut off at any point, just run it again. One that differs is
named and not changed.
Keys of another form need keys.accept_imported: true in the configuration.

Examples:
  petgate keys import old-keys.jsonl
  petgate keys export --hashes | petgate --admin-url http://10.0.0.2:9090 keys import -`;
