// Runs before anything is installed: plain JavaScript that uses only Node's own modules.
//   node src/bootstrap.mjs start | dev | lint | build | bundle
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureEverything, ensureProgram } from './bootstrap/build.mjs';
import { build, lint } from './bootstrap/lint.mjs';
import { ensureInstalled } from './bootstrap/install.mjs';
import { dev, start } from './bootstrap/start.mjs';
import { complain, SetupFailure } from './bootstrap/terminal.mjs';

/** Prepares what the programs of `test` need: developer tools, and everything built. */
export async function ensureReady() {
  await ensureInstalled({ developer: true });
  await ensureEverything();
}

/** `bundle` installs nothing: an image has its dependencies already, without developer tools. */
const COMMANDS = { start, dev, lint, build, bundle: ensureProgram };

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const command = Object.hasOwn(COMMANDS, process.argv[2]) ? COMMANDS[process.argv[2]] : undefined;
  if (command === undefined) {
    complain(`Use: node ${relative(process.cwd(), process.argv[1])} ${Object.keys(COMMANDS).join(' | ')}`);
    process.exitCode = 2;
  } else {
    await command().catch((error) => {
      complain(error instanceof SetupFailure ? error.message : error.stack);
      process.exitCode = error.exitCode ?? 1;
    });
  }
}
