import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { packageRoot } from '../../src/shared/package-root.js';

/** What each snippet may use: the real types, and a step of each kind. */
const PRELUDE = `
import { pipeline, type Steps } from '../../src/gateway/pipeline.js';
import type { Admitted, Exchange, Identified, Routed, Stripped } from '../../src/gateway/exchange.js';
import { REFUSALS, type Refusal } from '../../src/gateway/refusal.js';
declare const steps: Steps;
const { strip, route, identify, admit, forward } = steps;
declare const exchange: Exchange;
declare const routed: Routed;
declare const identified: Identified;
declare const admitted: Admitted;
export { REFUSALS, pipeline, strip, route, identify, admit, forward, exchange, routed, identified, admitted };
export type { Admitted, Refusal, Stripped };
`;

const GOOD: Readonly<Record<string, string>> = {
  'the steps in their order': 'void pipeline({ strip, route, identify, admit, forward })(exchange);',
  'forwarding what was admitted': 'void forward(admitted);',
  'an upstream that gives no answer':
    'void pipeline({ strip, route, identify, admit, forward: (_: Admitted): Promise<Refusal> => ' +
    'Promise.resolve(REFUSALS.upstream_failed) });',
};

/** Each with the error that must be the reason. */
const BAD: Readonly<Record<string, string>> = {
  'route before strip': 'route(exchange);',
  'identify before route': 'identify(strip(exchange));',
  'admit before identify': 'void admit(route(strip(exchange)));',
  'forward before admit': 'void forward(identify(route(strip(exchange))));',
  'admit and identify changed': 'void pipeline({ strip, route, identify: admit, admit: identify, forward });',
  'a pipeline without admit': 'void pipeline({ strip, route, identify, forward });',
  'forwarding an exchange': 'void forward(exchange);',
  'forwarding an Identified': 'void forward(identified);',
  'forwarding a refusal': 'void forward(REFUSALS.rate_limited);',
  'forwarding what admit gave, unasked whether it is a refusal':
    'void (async () => forward(await admit(identified)))();',
  'running from the middle': 'void pipeline({ strip, route, identify, admit, forward })(REFUSALS.not_found);',
  'an Admitted made by hand':
    'const made: Admitted = { ...identified, operation: admitted.operation, verdict: admitted.verdict };',
  'an Admitted made of nothing': 'const made: Admitted = {} as Identified;',
  'a step that gives nothing':
    'void pipeline({ strip: (_: Exchange): void => undefined, route, identify, admit, forward });',
};

const folder = join(packageRoot, 'test/gateway');
const fileOf = (index: number): string => join(folder, `snippet-${index}.ts`);
const snippets = Object.entries({ ...GOOD, ...BAD });

function compile(): ts.Program {
  const { config } = ts.readConfigFile(join(packageRoot, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, packageRoot);
  const checked: ts.CompilerOptions = { ...options, noEmit: true, incremental: false, noUnusedLocals: false };
  delete checked.tsBuildInfoFile;
  const virtual = new Map(snippets.map(([, text], index) => [fileOf(index), `${PRELUDE}\n${text}\n`]));
  const host = ts.createCompilerHost(checked);
  const real = ts.createCompilerHost(checked);
  host.fileExists = (path) => virtual.has(path) || real.fileExists(path);
  host.readFile = (path) => virtual.get(path) ?? real.readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = virtual.get(path);
    return text === undefined ? real.getSourceFile(path, language, ...rest) : ts.createSourceFile(path, text, language);
  };
  return ts.createProgram([...virtual.keys()], checked, host);
}

t.test('a wrong order of the steps, and forwarding what was not admitted, do not compile', (t) => {
  const program = compile();
  t.same(
    program.getOptionsDiagnostics().map(({ messageText }) => messageText),
    [],
    'the options are good',
  );
  snippets.forEach(([name, text], index) => {
    const source = program.getSourceFile(fileOf(index))!;
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    const codes = found.map(({ code }) => code);
    const inSnippet = found.every(({ start = 0 }) => start > PRELUDE.length);
    t.ok(inSnippet, `${name}: the prelude itself is good`);
    if (name in GOOD)
      t.same(
        found.map(({ messageText }) => messageText),
        [],
        `${name} compiles`,
      );
    // 2322: not assignable; 2345: not assignable as an argument; 2741: a brand is missing.
    else
      t.ok(codes.length > 0 && codes.every((code) => [2322, 2345, 2741].includes(code)), `${name} does not compile`, {
        text,
        codes,
      });
  });
  t.end();
});
