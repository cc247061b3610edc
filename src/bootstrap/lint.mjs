import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { at } from './files.mjs';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { run } from './run.mjs';
import { complain, say, seconds, SetupFailure } from './terminal.mjs';

const installed = (...parts) => at('node_modules', ...parts);
const ARROWS = installed('dependency-cruiser', 'bin', 'dependency-cruise.mjs');
/** By name: a program of Node, and what it is called with. */
const CHECKS = {
  eslint: [installed('eslint', 'bin', 'eslint.js'), '.'],
  format: [installed('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '**/*.{ts,tsx,js,mjs,cjs}'],
  arrows: [ARROWS, 'src', 'test', '--config', at('.dependency-cruiser.cjs')],
  unused: [installed('knip', 'bin', 'knip.js'), '--no-progress'],
  contract: [installed('@redocly', 'cli', 'bin', 'cli.js'), 'lint', 'config/openapi.yaml'],
};

/** Debian's lua-check, where it is installed. */
const LUACHECK = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'luacheck'))
  .find(existsSync);

/** Runs every check, also after one failed, and says which did. */
export async function lint() {
  await ensureInstalled();
  await types();
  const { eslint, ...others } = Object.fromEntries(
    Object.entries(CHECKS).map(([name, args]) => [name, [process.execPath, args]]),
  );
  if (LUACHECK === undefined) say('skipped lua: luacheck is not installed (Debian: apt-get install lua-check)');
  else others.lua = [LUACHECK, ['src', '--quiet', '--no-color']];
  // Two processors, and eslint takes as long as all others.
  await Promise.all([inTurn({ eslint }), inTurn(others)]);
}

/** The build checks them, and is done only where `dist` is not of these very sources. */
async function types() {
  const beganMs = performance.now();
  try {
    await ensureBuilt();
    report('types', 0, '', beganMs);
  } catch (error) {
    if (!(error instanceof SetupFailure) || error.exitCode !== 1) throw error;
    report('types', 1, error.message, beganMs);
  }
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
