import { run } from './run.mjs';
import { complain, SetupFailure } from './terminal.mjs';

/** The only npm settings passed on from the environment: the registry and how to reach it. */
const SETTINGS = new RegExp(
  '^npm_config_(registry|@|//|_auth|proxy|https?[-_]proxy|noproxy|ca$|cafile|strict[-_]ssl|cache$|' +
    'userconfig|globalconfig)',
  'i',
);
/** A registry that can be reached responds sooner. */
const SILENCE_MS = 8_000;
const FETCHED = /^npm http (fetch|cache) .*( \d{3} |cache hit)/m;
const UNREACHABLE = /attempt \d+ failed with (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH)/;

/** Runs npm. Throws SetupFailure when it fails, and immediately when the registry is unreachable. */
export async function runNpm(args) {
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [command, ...before] = npm;
  const abort = new AbortController();
  let seen = '';
  let unreachable;
  const onOutput = (text) => {
    seen += text;
    unreachable = FETCHED.test(seen) ? undefined : UNREACHABLE.exec(seen)?.[1];
    if (unreachable !== undefined) abort.abort();
  };
  const timer = setTimeout(() => {
    if (!FETCHED.test(seen)) complain('The package registry has not answered yet. Is the network up? Still trying …');
  }, SILENCE_MS);
  const { code, output } = await run(command, [...before, ...args, '--loglevel=http'], environment(), {
    onOutput,
    signal: abort.signal,
  }).finally(() => clearTimeout(timer));
  if (unreachable !== undefined)
    throw new SetupFailure(
      `The package registry cannot be reached (${unreachable}), and the dependencies must be installed. Check the ` +
        'network, the proxy and `npm config get registry`, then start again.',
    );
  if (code === 0) return;
  const said = output.replace(/^npm http .*\n/gm, '').trimEnd();
  throw new SetupFailure(`${said}\nThe dependencies could not be installed; see the errors above, then start again.`);
}

/**
 * Returns the environment without the settings that the npm of `npm start` passes down (omit, prefix …): they are meant
 * for that npm, not for this one.
 */
function environment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => name !== 'NODE_ENV' && (!/^npm_/i.test(name) || SETTINGS.test(name)),
  );
  return Object.fromEntries(kept);
}
