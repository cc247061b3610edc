import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureEverything } from './build.mjs';
import { at } from './files.mjs';
import { ensureInstalled } from './install.mjs';
import { run } from './run.mjs';
import { complain, say, seconds } from './terminal.mjs';

const installed = (...parts) => at('node_modules', ...parts);
const ARROWS = installed('dependency-cruiser', 'bin', 'dependency-cruise.mjs');
const TYPES = [installed('typescript', 'bin', 'tsc'), '-p', at('tsconfig.json')];
/** By name: a Node program and its arguments. */
const CHECKS = {
  // The types too.
  oxlint: [installed('oxlint', 'bin', 'oxlint')],
  format: [installed('oxfmt', 'bin', 'oxfmt'), '--check', '**/*.{ts,tsx,js,mjs,cjs}'],
  arrows: [ARROWS, 'src', 'test', '--config', at('.dependency-cruiser.cjs')],
  unused: [installed('knip', 'bin', 'knip.js'), '--no-progress'],
  regexes: [at('src', 'bootstrap', 'regexes.mjs')],
  contract: [installed('@redocly', 'cli', 'bin', 'cli.js'), 'lint', 'config/openapi.yaml'],
};

/** Path of luacheck (Debian package lua-check); undefined if it is not installed. */
const LUACHECK = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'luacheck'))
  .find(existsSync);

/** Runs every check, even after one failed, and reports which failed. */
export async function lint() {
  await ensureInstalled({ developer: true });
  const checks = Object.fromEntries(Object.entries(CHECKS).map(([name, args]) => [name, [process.execPath, args]]));
  if (LUACHECK === undefined) say('skipped lua: luacheck is not installed (Debian: apt-get install lua-check)');
  else checks.lua = [LUACHECK, ['src', '--quiet', '--no-color']];
  await inTurn(checks);
}

/** Checks the types, then builds everything. */
export async function build() {
  await ensureInstalled({ developer: true });
  await inTurn({ types: [process.execPath, TYPES] });
  if (process.exitCode === undefined) await ensureEverything();
}

async function inTurn(checks) {
  for (const [name, [program, args]] of Object.entries(checks)) {
    const beganMs = performance.now();
    const { code, output } = await run(program, args, {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    });
    report(name, code, output, beganMs);
  }
}

function report(name, code, output, beganMs) {
  if (code !== 0) {
    process.exitCode = 1;
    complain(output.trimEnd());
  }
  say(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${seconds(beganMs)}`);
}
