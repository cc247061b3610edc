const { readdirSync } = require('node:fs');
const { dirname, join } = require('node:path');

/** Which imports are allowed. One that is not fails `npm run lint`. */
const arrow = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });

/** Sub-folders whose files import those of the folder above. All others are imported by them, at most. */
const UPPER = [
  'cli/usage/push',
  'gateway/accounts/customers',
  'gateway/accounts/keys',
  'gateway/accounts/transfer',
  'gateway/actions/accounts',
  'gateway/actions/input',
  'gateway/actions/service',
  'gateway/actions/table',
  'gateway/actions/usage',
  'gateway/edge/http1',
  'gateway/edge/http2',
  'gateway/edge/proxy-protocol',
  'gateway/edge/server',
  'gateway/edge/websocket',
  'gateway/pages/components',
  'gateway/store/embedded',
  'gateway/store/outage',
  'gateway/store/redis',
  'gateway/usage/rehearsal/ledger',
  'gateway/usage/tasks',
  'shared/metrics',
];
/** The folders of src/gateway: they import the types of an exchange above them, and the other files there them. */
const ABOVE = /^src\/gateway\/\w+$/;

const foldersOf = (folder) =>
  readdirSync(join(__dirname, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => [`${folder}/${name}`, ...foldersOf(`${folder}/${name}`)]);
const foldersAndThoseAbove = foldersOf('src')
  .filter((folder) => !ABOVE.test(folder))
  .map((folder) => {
    const [below, above] = [{ path: `^${folder}/` }, { path: `^${dirname(folder)}/[^/]+$` }];
    return UPPER.includes(folder.slice('src/'.length))
      ? arrow(`${folder}-imports-those-above`, above, below, 'A folder of UPPER is not imported by the files above it.')
      : arrow(`${folder}-is-below`, below, above, 'A folder that imports the files above it belongs into UPPER.');
  });

/** The folders of src/gateway. Each may import those before it and none behind it, so that no two import each other. */
const FOLDERS = [
  'refusals',
  'admission',
  'store',
  'config',
  'edge',
  'accounts',
  'contract',
  'upstream',
  'observe',
  'usage',
  'events',
  'pages',
  'docs',
  'holder',
  'actions',
  'admin',
  'console',
  'workers',
  'process',
];
const foldersInOrder = FOLDERS.slice(0, -1).map((folder, index) =>
  arrow(
    `${folder}-comes-first`,
    { path: `^src/gateway/${folder}/` },
    { path: `^src/gateway/(${FOLDERS.slice(index + 1).join('|')})/` },
    'Folders that import each other have no first one to read.',
  ),
);

module.exports = {
  forbidden: [
    ...foldersInOrder,
    ...foldersAndThoseAbove,
    arrow(
      'every-folder-has-its-place',
      { path: '^src/gateway/', pathNot: `^src/gateway/([^/]+\\.ts$|(${FOLDERS.join('|')})/)` },
      {},
      'Put a new folder into FOLDERS, behind all that it imports.',
    ),
    arrow(
      'folders-know-no-composition',
      { path: '^src/gateway/[^/]+/', pathNot: '^src/gateway/process/' },
      { path: '^src/gateway/[^/]+$', pathNot: '^src/gateway/(exchange|refusal|answer)\\.ts$' },
      'What is put together does not know the whole.',
    ),
    arrow('no-cycle', {}, { circular: true }, 'Files that import each other have no first one to read.'),
    {
      ...arrow(
        'no-folder-cycle',
        { path: '^src' },
        { circular: true },
        'Nor have folders next to each other, at any depth.',
      ),
      scope: 'folder',
    },
    arrow(
      'gateway-knows-no-pets',
      { path: '^src/gateway' },
      { path: '^src/pets' },
      'Policy and domain deploy separately.',
    ),
    arrow(
      'pets-know-no-gateway',
      { path: '^src/pets' },
      { path: '^src/gateway' },
      'Policy and domain deploy separately.',
    ),
    arrow(
      'shared-knows-nobody',
      { path: '^src/shared' },
      { path: '^src/(gateway|pets|cli)' },
      'Shared tools know nothing of the business.',
    ),
    arrow(
      'programs-know-no-cli',
      { path: '^src/(gateway|pets)' },
      { path: '^src/cli' },
      'The command line starts programs, never the other way.',
    ),
    arrow(
      'cli-loads-the-gateway-late',
      { path: '^src/cli', pathNot: '^src/cli/start/' },
      { path: '^src/gateway', dynamic: false, dependencyTypesNot: ['type-only'] },
      'The image of pets has the command line, and no gateway.',
    ),
    arrow('src-knows-no-test', { path: '^src' }, { path: '^test' }, 'Nothing that ships imports a test.'),
    arrow(
      'admission-sees-plain-data',
      { path: '^src/gateway/(admission|store)/', pathNot: '^src/gateway/admission/admit' },
      {
        path:
          '^(node:)?(http|http2|net|tls)$|' +
          '^src/gateway/(app|main|pipeline|exchange|refusal|process|upstream|observe|admin)',
      },
      'Admission and store see plain data; only the step, admit.ts, knows of exchanges.',
    ),
    arrow(
      'only-upstream-and-events-dial',
      { path: '^src/gateway', pathNot: '^src/gateway/(upstream|events)/' },
      { path: 'node_modules/(undici|http-proxy)/' },
      'One place connects to upstreams, and one to the receiver of events.',
    ),
    arrow(
      'only-the-redis-engine-speaks-redis',
      { path: '^src', pathNot: '^src/gateway/store/redis' },
      { path: 'node_modules/ioredis/' },
      'One place speaks to Redis.',
    ),
    arrow(
      'no-dev-dependency-ships',
      { path: '^src', pathNot: '^src/bootstrap/regexes\\.mjs' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: 'node_modules/@types/' },
      'src runs on production dependencies; regexes.mjs is a part of npm run lint.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
