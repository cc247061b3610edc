// What runs before anything is installed: plain JavaScript, nothing but Node's own modules.
//   node src/bootstrap.mjs start | dev | lint
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lint } from './bootstrap/lint.mjs';
import { dev, start } from './bootstrap/start.mjs';
import { complain, SetupFailure } from './bootstrap/terminal.mjs';

export { ensureBuilt } from './bootstrap/build.mjs';
export { ensureInstalled } from './bootstrap/install.mjs';

const COMMANDS = { start, dev, lint };

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
