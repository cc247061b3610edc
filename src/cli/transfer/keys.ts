import { Command } from 'commander';
import type { Connect } from '../client.js';
import { say, sayJson } from '../output.js';
import { upload } from './files.js';

const PATH = '/admin/v1/keys/import';

/** `petgate keys import`: a file of keys, each of which is there afterwards. */
export function importCommand(connect: Connect): Command {
  return new Command('import')
    .description('import existing keys by their hashes; if it is interrupted, run it again')
    .argument('<file>', 'JSON lines; - reads standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', IMPORT_HELP)
    .action(async (file: string, { json }: { json?: true }) => {
      const client = await connect();
      const startMs = performance.now();
      // What comes by standard input comes once.
      if (file !== '-') await upload(client, `${PATH}?check=true`, file, 'checking');
      const answer = await upload(client, PATH, file, 'importing');
      if (json === true) sayJson(answer);
      else say(summaryOf(answer, performance.now() - startMs));
    });
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

Keys of another Petgate come with all else: petgate store export, petgate store import.

Example:
  petgate keys import old-keys.jsonl`;
