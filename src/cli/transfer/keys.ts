import { Command } from 'commander';
import type { Connect } from '../admin/admin-client.js';
import { say, sayJson } from '../terminal/output.js';
import { upload } from './files.js';

const PATH = '/admin/v1/keys/import';

export function importCommand(connect: Connect): Command {
  return new Command('import')
    .description('import existing keys by their hashes; if it is interrupted, run it again')
    .argument('<file>', 'JSON lines; - reads standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', IMPORT_HELP)
    .action(async (file: string, { json }: { json?: true }) => {
      const client = await connect();
      const startMs = performance.now();
      // Standard input can be read only once.
      if (file !== '-') await upload(client, `${PATH}?check=true`, file, 'checking');
      const response = await upload(client, PATH, file, 'importing');
      if (json === true) sayJson(response);
      else say(summaryOf(response, performance.now() - startMs));
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

A whole file is checked before anything is imported, and every invalid line is named; from
standard input, valid lines are imported as they come. A key that is already here and equals
its line is left unchanged: after an interruption, run it again. A key that differs is named
and not changed.
Keys of another form need keys.accept_imported: true in the configuration.

To move keys from another Petgate, with everything else: petgate store export, petgate store import.

Example:
  petgate keys import old-keys.jsonl`;
