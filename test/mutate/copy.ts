import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/shared/package-root.js';

/** A copy of the built program and its tests, in which one module at a time may be replaced. */
export class Copy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'petgate-mutate-'));

  constructor() {
    for (const name of readdirSync(packageRoot))
      if (name !== 'dist' && name !== '.git') symlinkSync(join(packageRoot, name), join(this.#folder, name));
    mkdirSync(join(this.#folder, 'dist'));
    for (const name of readdirSync(join(packageRoot, 'dist'))) {
      const [from, to] = [packageRoot, this.#folder].map((root) => join(root, 'dist', name)) as [string, string];
      if (name === 'src' || name === 'test') cpSync(from, to, { recursive: true });
      else if (name !== 'program') symlinkSync(from, to);
    }
    // The bundle would run without the mutant.
    mkdirSync(join(this.#folder, 'dist/program'));
    writeFileSync(join(this.#folder, 'dist/program/main.js'), "import '../src/cli/main.js';\n");
  }

  /** Runs `work` while `module` has this text. @param module below `dist/src`, without ending */
  async replacing<Result>(module: string, text: string, work: () => Promise<Result>): Promise<Result> {
    const path = join(this.#folder, 'dist/src', `${module}.js`);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, text);
    return work().finally(() => writeFileSync(path, original));
  }

  /** Whether a test file passes, within this time. @param test below `dist/test`, without ending */
  passes(test: string, maxMs: number): Promise<boolean> {
    const path = join(this.#folder, 'dist/test', `${test}.test.js`);
    if (!existsSync(path)) throw new Error(`there is no test ${test}`);
    const child = spawn(process.execPath, [path], {
      cwd: this.#folder,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, TAP_BAIL: '1', TAP_TIMEOUT: '600' },
    });
    // With all processes that it started.
    const end = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // They have ended.
      }
    };
    const timer = setTimeout(end, maxMs);
    return new Promise((resolve) => {
      child.on('close', (code) => {
        clearTimeout(timer);
        end();
        resolve(code === 0);
      });
    });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
