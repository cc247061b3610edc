/** Checks the types, then runs eslint on the same program: types are worked out once for both. */
import { ESLint } from 'eslint';
import ts from 'typescript';
import { at, root } from './files.mjs';
import { complain } from './terminal.mjs';

const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(at('tsconfig.json'), {}, ts.sys);
const program = ts.createProgram(fileNames, { ...options, incremental: false, tsBuildInfoFile: undefined });
const problems = [...errors, ...ts.getPreEmitDiagnostics(program)];
const host = { getCurrentDirectory: () => root, getCanonicalFileName: (name) => name, getNewLine: () => '\n' };
if (problems.length > 0) complain(ts.formatDiagnostics(problems, host).trimEnd());

const parserOptions = { projectService: false, programs: [program] };
const eslint = new ESLint({
  cwd: root,
  overrideConfig: { files: ['**/*.{ts,tsx}'], languageOptions: { parserOptions } },
});
const results = await eslint.lintFiles(['.']);
const text = await (await eslint.loadFormatter()).format(results);
if (text !== '') complain(text.trimEnd());
const clean = results.every(({ errorCount, warningCount }) => errorCount + warningCount === 0);
process.exitCode = clean && problems.length === 0 ? 0 : 1;
