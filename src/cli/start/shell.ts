import { quoted } from '../../gateway/refusals/credential-location.js';
import { basename } from 'node:path';
import { packageRoot } from '../../shared/package-root.js';

/** Returns the command that runs this program from the current folder. */
export function programName(script = process.argv[1] ?? ''): string {
  if (process.cwd() === packageRoot.replace(/\/$/, '')) return './petgate';
  if (script.includes('/node_modules/.bin/')) return 'npx petgate';
  return basename(script) === 'petgate' ? 'petgate' : `node ${quoted(script)}`;
}
