import { readFileSync } from 'node:fs';
import { bytesOf, differing, filesIn, holding, packagesOf } from './contents.mjs';

const MB = 1_000_000;
/** What a container's own tools write into it: names and addresses of the machine. */
const OF_THE_TOOL = /^\/(etc\/(hosts|resolv\.conf|hostname)|run\/|proc\/|sys\/|dev\/)/;
/** What an image may have besides packages: one program for both, and what only the gateway reads. */
const OWN = {
  gateway: /^\/app\/(package\.json$|(dist\/program|src\/gateway\/store\/redis\/scripts|config|docs\/runbooks)\/)/,
  pets: /^\/app\/(package\.json$|dist\/program\/)/,
};
const SECRET_NAME = /token|password|secret|npm_config/i;

/** What is in an image on top of its base. */
export function checkContents(check, buildah, { base, image, target, secret }) {
  const config = buildah.configOf(image);
  check(
    config.User === 'node' && config.Healthcheck?.Test?.[0] === 'CMD',
    `${target}: user node, and a health check`,
    config,
  );
  check(
    config.Env.every((variable) => !SECRET_NAME.test(variable)),
    `${target}: no secret in its environment`,
    config.Env,
  );

  const containers = [base, image].map((name) => buildah.container(name));
  const [below, files] = containers.map(({ root }) => filesIn(root));
  const { root } = containers[1];
  const added = differing(below, files).filter((path) => !OF_THE_TOOL.test(path));
  const outside = added.filter((path) => !path.startsWith('/app/'));
  check(outside.length === 0, `${target}: nothing but /app is added to the base`, outside);
  const writable = added.filter((path) => files.get(path)?.uid !== 0);
  check(writable.length === 0, `${target}: its files are root's`, writable);

  const { missing, needless } = packagesOf(JSON.parse(readFileSync('package-lock.json', 'utf8')), files);
  check(missing.length === 0, `${target}: has every package of production`, missing);
  check(needless.length === 0, `${target}: has no package of development`, needless);
  const own = added.filter((path) => !path.startsWith('/app/node_modules/'));
  check(own.includes('/app/dist/program/main.js'), `${target}: has the program`, own);
  const others = own.filter((path) => !OWN[target].test(path));
  check(others.length === 0, `${target}: no test, no source, no settings of the other program`, others);
  const holders = holding(root, added, secret);
  check(holders.length === 0, `${target}: no secret of the place it was built in`, holders);

  console.log(
    `     ${target}: ${((bytesOf(files) - bytesOf(below)) / MB).toFixed(1)} MB on top of a base of ` +
      `${(bytesOf(below) / MB).toFixed(0)} MB`,
  );
  for (const { name } of containers) buildah.do('rm', name);
}
