import { Command } from 'commander';
import type { Connect, Json } from '../admin/admin-client.js';
import { say, sayJson } from '../terminal/output.js';
import { pourTo, upload } from './files.js';

export function exportCommand(connect: Connect): Command {
  return new Command('export')
    .description('print the whole store as JSON lines: customers, keys with hashes, tokens, usage, history')
    .option('--out <file>', 'write to this file, readable only by you; it appears once it is complete')
    .addHelpText('after', '\nKeep it as safe as the store: it holds names and the hashes of keys.')
    .action(({ out }: { out?: string }) => pourTo(connect, '/admin/v1/store/export', out));
}

export function importCommand(connect: Connect): Command {
  return new Command('import')
    .description('import an export into any engine; run again, it continues')
    .argument('<file>', 'what "petgate store export" wrote; - reads standard input')
    .option('--json', 'print JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, { json }: { json?: true }) => {
      const response = await upload(await connect(), '/admin/v1/store/import', file, 'importing');
      if (json === true) sayJson(response);
      else say(summaryOf(response));
    });
}

function summaryOf({ added, changed, unchanged, newer, raised, sums }: Json): string {
  const { customers, keys, tokens, ...counts } = sums as Readonly<Record<string, number>>;
  const counted = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return [
    `${String(added)} added, ${String(changed)} changed, ${String(unchanged)} unchanged, ${String(newer)} newer here ` +
      `and kept; ${String(raised)} ledger rows updated.`,
    `The file is whole: ${customers} customers, ${keys} keys, ${tokens} admin tokens; ${counted.join(', ')}.`,
  ].join('\n');
}

const HELP = `
Records that are already here are left unchanged, newer changes here are kept, and of two
counts the larger one counts: after an interruption, run it again. A record that would
overwrite a different one is named and not changed. Minutes start again, days and months do not.

To move without losing a count: export and import while the old gateways serve, stop them,
export and import once more, start the new ones.`;
