import { at, TSC } from './files.mjs';
import { ensureInstalled } from './install.mjs';
import { run } from './run.mjs';
import { complain, say, seconds } from './terminal.mjs';

const installed = (...parts) => at('node_modules', ...parts);
const ARROWS = installed('dependency-cruiser', 'bin', 'dependency-cruise.mjs');
/** By name: a program of Node, and what it is called with. */
const CHECKS = {
  eslint: [installed('eslint', 'bin', 'eslint.js'), '.'],
  format: [installed('prettier', 'bin', 'prettier.cjs'), '--check', '--log-level', 'warn', '**/*.{ts,js,mjs,cjs}'],
  types: [TSC, '-p', at('tsconfig.json'), '--noEmit', '--incremental', 'false', '--tsBuildInfoFile', 'null'],
  arrows: [ARROWS, 'src', 'test', '--config', at('.dependency-cruiser.cjs')],
  unused: [installed('knip', 'bin', 'knip.js'), '--no-progress'],
  contract: [installed('@redocly', 'cli', 'bin', 'cli.js'), 'lint', 'config/openapi.yaml'],
};

/** Runs every check, also after one failed, and says which did. */
export async function lint() {
  await ensureInstalled();
  for (const [name, args] of Object.entries(CHECKS)) {
    const beganMs = performance.now();
    const { code, output } = await run(process.execPath, args, {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    });
    if (code !== 0) {
      process.exitCode = 1;
      complain(output.trimEnd());
    }
    say(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${seconds(beganMs)}`);
  }
}
