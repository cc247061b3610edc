/** The arrows of the house. A broken one fails `npm run lint`. */
const arrow = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });

module.exports = {
  forbidden: [
    arrow('no-cycle', {}, { circular: true }, 'A cycle has no first file to read.'),
    arrow('gateway-knows-no-pets', { path: '^src/gateway' }, { path: '^src/pets' }, 'Policy and domain deploy separately.'),
    arrow('pets-know-no-gateway', { path: '^src/pets' }, { path: '^src/gateway' }, 'Policy and domain deploy separately.'),
    arrow('shared-knows-nobody', { path: '^src/shared' }, { path: '^src/(gateway|pets|cli)' }, 'Shared tools have no business word.'),
    arrow('programs-know-no-cli', { path: '^src/(gateway|pets)' }, { path: '^src/cli' }, 'The command line starts programs, never the other way.'),
    arrow('src-knows-no-test', { path: '^src' }, { path: '^test' }, 'Nothing that ships imports a test.'),
    arrow(
      'admission-sees-plain-data',
      { path: '^src/gateway/admission', pathNot: '^src/gateway/admission/admit' },
      { path: '^(node:)?(http|http2|net|tls)$|^src/gateway/(app|main|pipeline|exchange|refusal|upstream|observe|admin)' },
      'The heart decides on plain data; only its step, admit.ts, knows of exchanges.',
    ),
    arrow('only-upstream-dials', { path: '^src/gateway', pathNot: '^src/gateway/upstream' }, { path: 'node_modules/(undici|http-proxy)/' }, 'One place reaches the service behind.'),
    arrow('only-the-redis-engine-speaks-redis', { path: '^src', pathNot: '^src/gateway/admission/engines/redis' }, { path: 'node_modules/ioredis/' }, 'One place speaks to Redis.'),
    arrow('no-dev-dependency-ships', { path: '^src' }, { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' }, 'src runs on production dependencies.'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
};
